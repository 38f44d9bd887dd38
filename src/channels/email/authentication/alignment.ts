import { getAlignment } from 'mailauth/lib/tools.js';

/**
 * Whether a domain that was authenticated speaks for the domain in From (RFC 7489 §3.1). Relaxed:
 * both have the same organizational domain. Strict: they are the same. mailauth's own strict mode
 * falls back to the relaxed one, so it is not asked for that.
 */
export function isAligned(fromDomain: string, authenticated: string, strict: boolean): boolean {
  const [from, other] = [fromDomain, authenticated].map((each) =>
    each.toLowerCase().replace(/\.$/, ''),
  );
  if (from === undefined || other === undefined || from === '' || other === '') return false;
  if (from === other) return true;
  return !strict && getAlignment(from, [other]) !== false;
}
