import { jwtVerify } from 'jose';
import { z } from 'zod';
import { cleanName } from './visible-text.ts';

/** Who the shop's own server says this visitor is. */
export interface Identity {
  readonly subject: string;
  readonly email?: string;
  readonly name?: string;
}

const MAX_LENGTH = 8 * 1024;
const MAX_LIFETIME_SECONDS = 3600;
const CLOCK_TOLERANCE_SECONDS = 60;

/** A name or address that cannot be used is left out: the visitor is still who he is. */
const claimsSchema = z.object({
  sub: z.string().min(1).max(255),
  exp: z.number(),
  email: z.email().max(254).optional().catch(undefined),
  name: z.string().overwrite(cleanName).min(1).max(200).optional().catch(undefined),
});

/**
 * Checks an identity JWT. The algorithm is pinned (RFC 8725 §3.1): a token that names another one,
 * `none` above all, is not even looked at with our secrets.
 * @returns undefined when no secret made this token, or it is not for this widget, or not for now
 */
export async function verifyIdentity(
  jwt: string,
  expected: { secrets: readonly string[]; audience: string; now: number },
): Promise<Identity | undefined> {
  if (jwt.length > MAX_LENGTH) return undefined;
  for (const secret of expected.secrets) {
    const claims = await claimsOf(jwt, secret, expected.audience, expected.now);
    if (claims === undefined) continue;
    const remaining = claims.exp - expected.now / 1000;
    if (remaining > MAX_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS) return undefined;
    return {
      subject: claims.sub,
      ...(claims.email !== undefined && { email: claims.email }),
      ...(claims.name !== undefined && { name: claims.name }),
    };
  }
  return undefined;
}

async function claimsOf(
  jwt: string,
  secret: string,
  audience: string,
  now: number,
): Promise<z.output<typeof claimsSchema> | undefined> {
  try {
    const { payload } = await jwtVerify(jwt, new TextEncoder().encode(secret), {
      algorithms: ['HS256'],
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    return claimsSchema.safeParse(payload).data;
  } catch {
    // Whatever is wrong with it, the visitor's answer is the same word.
    return undefined;
  }
}
