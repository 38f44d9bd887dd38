import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** A parsed scrypt hash of a password (RFC 7914). */
export interface PasswordHash {
  /** log2 of the cost. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** 64 MiB and about 0.1 s, in line with OWASP's recommendation of 2023. */
const COST = { ln: 16, r: 8, p: 1 } as const;
const MAX_MEMORY = 256 * 1024 * 1024;
const PREFIX = '$scrypt$';
const FORM =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,128}={0,2})\$([A-Za-z0-9+/]{22,128}={0,2})$/;

const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

export const isPasswordHash = (text: string): boolean => text.startsWith(PREFIX);

/**
 * Parses `$scrypt$ln=16,r=8,p=1$<salt>$<hash>`, the form that passlib and others write (base64
 * without padding). Undefined if the text has another form or needs an unreasonable amount of
 * memory.
 */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const [, ln = '', r = '', p = '', salt = '', hash = ''] = FORM.exec(text) ?? [];
  if (hash === '') return undefined;
  const found = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (found.ln < 10 || found.ln > 20 || found.r < 1 || found.p < 1 || found.p > 4) return undefined;
  if (memoryOf(found) > MAX_MEMORY) return undefined;
  return { ...found, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

/** Compares in constant time. The hashing, slow by design, runs outside this thread. */
export async function matchesHash(password: string, known: PasswordHash): Promise<boolean> {
  const { ln, r, p, salt, hash } = known;
  const options = { N: 2 ** ln, r, p, maxmem: 2 * MAX_MEMORY };
  return timingSafeEqual(await derive(password, salt, hash.length, options), hash);
}

/** The text to put into the configuration instead of the password. */
export async function hashPassword(password: string): Promise<string> {
  const { ln, r, p } = COST;
  const salt = randomBytes(16);
  const hash = await derive(password, salt, 32, { N: 2 ** ln, r, p, maxmem: 2 * MAX_MEMORY });
  return `${PREFIX}ln=${ln},r=${r},p=${p}$${bare(salt)}$${bare(hash)}`;
}

const memoryOf = ({ ln, r }: { ln: number; r: number }): number => 128 * r * 2 ** ln;
const bare = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
