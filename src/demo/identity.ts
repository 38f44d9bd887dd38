import { SignJWT } from 'jose';

/** Nobody real: names under `.example` are in no DNS (RFC 2606 §2). */
const ADA = { subject: 'demo-ada', name: 'Ada Nilsson', email: 'ada@customer.example' } as const;
const LIFETIME = '10 minutes';

/** Vouches for the demo's customer, as a shop's own server does for those who are logged in. */
export function mintIdentity(secret: string, widgetKey: string): Promise<string> {
  return new SignJWT({ name: ADA.name, email: ADA.email })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(ADA.subject)
    .setAudience(widgetKey)
    .setIssuedAt()
    .setExpirationTime(LIFETIME)
    .sign(new TextEncoder().encode(secret));
}
