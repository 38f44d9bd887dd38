import type { DnsError } from './dns-error.ts';

/** What a look-up came to. */
export type DnsAnswer =
  | { readonly records: DnsRecords; readonly ttlSeconds: number | undefined }
  | { readonly error: DnsError };

/** The shapes of `node:dns`: strings, TXT as lists of strings, MX with its priority. */
export type DnsRecords =
  | readonly string[]
  | readonly (readonly string[])[]
  | readonly { readonly priority: number; readonly exchange: string }[];

const MAX_ENTRIES = 2000;
/** A larger answer is asked for again: nobody's key is so long. */
const MAX_ANSWER_LENGTH = 8 * 1024;
const MAX_TTL_MS = 3_600_000;
/** Node tells the time to live of addresses only. */
const UNKNOWN_TTL_MS = 300_000;
const NEGATIVE_TTL_MS = 60_000;

/** Answers by name and type, the least recently made first to go. Trouble is never kept. */
export class DnsCache {
  readonly #answers = new Map<string, { readonly answer: DnsAnswer; readonly until: number }>();

  get(key: string, now: number): DnsAnswer | undefined {
    const found = this.#answers.get(key);
    if (found !== undefined && found.until > now) return found.answer;
    this.#answers.delete(key);
    return undefined;
  }

  set(key: string, answer: DnsAnswer, now: number): void {
    const ttl = ttlOf(answer);
    if (ttl === 0) return;
    this.#answers.delete(key);
    this.#answers.set(key, { answer, until: now + ttl });
    if (this.#answers.size <= MAX_ENTRIES) return;
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest);
      return;
    }
  }
}

function ttlOf(answer: DnsAnswer): number {
  if ('error' in answer) {
    const { code } = answer.error;
    return code === 'ENOTFOUND' || code === 'ENODATA' ? NEGATIVE_TTL_MS : 0;
  }
  if (JSON.stringify(answer.records).length > MAX_ANSWER_LENGTH) return 0;
  const { ttlSeconds } = answer;
  return ttlSeconds === undefined ? UNKNOWN_TTL_MS : Math.min(ttlSeconds * 1000, MAX_TTL_MS);
}
