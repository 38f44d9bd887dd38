import { setLatest } from '../../../runtime/keep-latest.ts';
import { promises as dns } from 'node:dns';
import type { Clock } from '../../../runtime/clock.ts';
import { codeOf } from '../../../runtime/error-code.ts';

/** Times in milliseconds, during which this thread runs (`afterRunningMs`). */
export interface DnsOptions {
  /** Addresses, with `:port` if it is not 53; empty for the system's resolvers. */
  readonly servers: readonly string[];
  /** For one look-up. */
  readonly queryMs: number;
  /** How long servers that have been silent recently may take to answer the probe. */
  readonly silenceMs: number;
  /** How long silent servers are not queried again. */
  readonly openMs: number;
}

export const DNS_DEFAULTS = {
  servers: [],
  queryMs: 2000,
  silenceMs: 600,
  openMs: 30_000,
} as const satisfies DnsOptions;

/** The record types of SPF, DKIM, DMARC and ARC. */
const TYPES = ['A', 'AAAA', 'MX', 'PTR', 'TXT'] as const;
type RecordType = (typeof TYPES)[number];
export type Resolve = (name: string, type: string) => Promise<DnsRecords>;

/** Every resolver answers for this name, most of them from their own data. */
const ROOT = '.';

/**
 * DNS with a cache and a breaker. The breaker opens only if the servers answer nothing at all: a
 * probe that any resolver answers, sent together with the first look-up, distinguishes a zone that
 * does not respond from a machine without DNS. While the breaker is open, every look-up fails
 * immediately.
 */
export class DnsResolver {
  readonly #options: DnsOptions;
  readonly #clock: Clock;
  readonly #servers: dns.Resolver;
  readonly #cache = new DnsCache();
  readonly #underWay = new Map<string, Promise<KeptAnswer>>();
  #lastAnswerAt = Number.NEGATIVE_INFINITY;
  #openUntil = Number.NEGATIVE_INFINITY;
  #probe: Promise<boolean> | undefined;

  /** @throws {Error} for a server that is not an address */
  constructor(options: DnsOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    // Its own time limit is longer, because it also counts while this thread does not run.
    this.#servers = new dns.Resolver({ timeout: Math.ceil(options.queryMs / 2), tries: 3 });
    if (options.servers.length > 0) this.#servers.setServers(options.servers);
  }

  /** Whether the servers are silent and not queried. */
  get isOpen(): boolean {
    return this.#clock() < this.#openUntil;
  }

  /**
   * @param onUse receives the time until which the cache keeps the answer, also before a throw
   * @throws {DnsError}
   */
  async resolve(
    name: string,
    type: string,
    onUse?: (keptUntil: number) => void,
  ): Promise<DnsRecords> {
    const recordType = TYPES.find((each) => each === type);
    if (recordType === undefined || name.length > 253 || name === '') {
      throw new DnsError('ENOTFOUND');
    }
    const key = `${recordType} ${name.toLowerCase()}`;
    const { answer, until } =
      this.#cache.get(key, this.#clock()) ?? (await this.#shared(key, name, recordType));
    onUse?.(until);
    if ('error' in answer) throw answer.error;
    return answer.records;
  }

  close(): void {
    this.#servers.cancel();
  }

  /** Concurrent identical queries are sent once. */
  #shared(key: string, name: string, type: RecordType): Promise<KeptAnswer> {
    const before = this.#underWay.get(key);
    if (before !== undefined) return before;
    const asking = this.#ask(name, type).then((answer) => {
      this.#underWay.delete(key);
      return this.#cache.set(key, answer, this.#clock());
    });
    this.#underWay.set(key, asking);
    return asking;
  }

  async #ask(name: string, type: RecordType): Promise<DnsAnswer> {
    if (this.isOpen) return NOT_ASKED;
    const asked = within(this.#query(name, type), this.#options.queryMs);
    const mayBeSilent = this.#clock() - this.#lastAnswerAt > this.#options.openMs;
    if (mayBeSilent) {
      const silent = this.#areSilent().then((yes) => (yes ? undefined : asked));
      return (await Promise.race([asked, silent])) ?? { error: new DnsError('ETIMEOUT') };
    }
    return asked;
  }

  /** Never rejects. */
  async #query(name: string, type: RecordType): Promise<DnsAnswer> {
    try {
      const answer = await query(this.#servers, name, type);
      this.#heard();
      return answer;
    } catch (error) {
      if (!isUnanswered(error)) this.#heard();
      return { error: toDnsError(error) };
    }
  }

  /** The servers speak, even if they were thought to be silent. */
  #heard(): void {
    this.#lastAnswerAt = this.#clock();
    this.#openUntil = Number.NEGATIVE_INFINITY;
  }

  /** Whether no server answers anything; opens the breaker if so. */
  #areSilent(): Promise<boolean> {
    this.#probe ??= this.#listen().finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  async #listen(): Promise<boolean> {
    const askedAt = this.#clock();
    const spoke = await new Promise<boolean>((resolve) => {
      // Without processor time, silence says nothing of the servers.
      const listen = (): RunTimer =>
        afterRunningMs(this.#options.silenceMs, ({ isStarved }) => {
          if (isStarved()) silence = listen();
          else resolve(false);
        });
      let silence = listen();
      const ended = (answered: boolean): void => {
        silence.cancel();
        if (answered) this.#heard();
        resolve(answered);
      };
      this.#servers.resolveNs(ROOT).then(
        () => ended(true),
        (error: unknown) => ended(!isUnanswered(error)),
      );
    });
    if (spoke || this.#lastAnswerAt >= askedAt) return false;
    this.#openUntil = this.#clock() + this.#options.openMs;
    return true;
  }
}

async function query(from: dns.Resolver, name: string, type: RecordType): Promise<DnsAnswer> {
  switch (type) {
    case 'A':
    case 'AAAA': {
      const found = await (type === 'A'
        ? from.resolve4(name, { ttl: true })
        : from.resolve6(name, { ttl: true }));
      const records = found.map(({ address }) => address);
      return { records, ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)) };
    }
    case 'MX':
      return { records: await from.resolveMx(name), ttlSeconds: undefined };
    case 'PTR':
      return { records: await from.resolvePtr(name), ttlSeconds: undefined };
    case 'TXT':
      return { records: await from.resolveTxt(name), ttlSeconds: undefined };
  }
}

function within(asked: Promise<DnsAnswer>, ms: number): Promise<DnsAnswer> {
  return new Promise((resolve) => {
    const late = ({ isStarved }: RunTimer) => ({ error: new DnsError('ETIMEOUT', isStarved()) });
    const timer = afterRunningMs(ms, () => resolve(late(timer)));
    void asked.then((answer) => {
      timer.cancel();
      resolve('error' in answer && answer.error.code === 'ETIMEOUT' ? late(timer) : answer);
    });
  });
}

const STEP_MS = 50;
/** On a quiet machine, the steps take 1.03 times as long as they should, and 1.5 times at a load of 40 on two processors. */
const STARVED_FROM = 1.2;

interface RunTimer {
  readonly cancel: () => void;
  /** This thread did not get the processor time that it needed. */
  readonly isStarved: () => boolean;
}

/**
 * A timer that counts only time in which the event loop turned, so a starved thread does not mistake
 * its own delay for a silent server. It counts in steps with a turn of the event loop between them,
 * and a late step counts as if it had been on time.
 * @param counts whether the current step counts
 */
function afterRunningMs(
  ms: number,
  callback: (timer: RunTimer) => void,
  counts = () => true,
): RunTimer {
  const stepMs = Math.min(STEP_MS, ms);
  const startedAt = performance.now();
  let leftMs = ms;
  let stepsMs = 0;
  const steps = setInterval(() => {
    stepsMs += stepMs;
    if (counts()) leftMs -= stepMs;
    if (leftMs > 0) return;
    timer.cancel();
    callback(timer);
  }, stepMs).unref();
  const timer: RunTimer = {
    cancel: () => clearInterval(steps),
    isStarved: () => performance.now() - startedAt > STARVED_FROM * stepsMs + STEP_MS,
  };
  return timer;
}

/** The result of a look-up. */
type DnsAnswer =
  | { readonly records: DnsRecords; readonly ttlSeconds: number | undefined }
  | { readonly error: DnsError };

interface KeptAnswer {
  readonly answer: DnsAnswer;
  /** Not in the future for an answer that is not cached. */
  readonly until: number;
}

/** The types of `node:dns`: strings, TXT as lists of strings, MX with its priority. */
type DnsRecords =
  | readonly string[]
  | readonly (readonly string[])[]
  | readonly { readonly priority: number; readonly exchange: string }[];

const MAX_ENTRIES = 2000;
/** A larger answer is not cached, because no key is that long. */
const MAX_ANSWER_LENGTH = 8 * 1024;
const MAX_TTL_MS = 3_600_000;
/** Node reports the TTL of addresses only. */
const UNKNOWN_TTL_MS = 300_000;
const NEGATIVE_TTL_MS = 60_000;

/** Answers by name and type; the oldest is dropped first. Server failures are never cached. */
class DnsCache {
  readonly #answers = new Map<string, KeptAnswer>();

  get(key: string, now: number): KeptAnswer | undefined {
    const found = this.#answers.get(key);
    if (found !== undefined && found.until > now) return found;
    this.#answers.delete(key);
    return undefined;
  }

  set(key: string, answer: DnsAnswer, now: number): KeptAnswer {
    const kept = { answer, until: now + ttlOf(answer) };
    if (kept.until <= now) return kept;
    setLatest(this.#answers, key, kept, MAX_ENTRIES);
    return kept;
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

/**
 * The failure of a look-up, in the codes that mailauth reads. Everything but a server failure is
 * `ENOTFOUND`: a name that cannot be looked up must not count as a DNS failure, since a sender
 * could use it to keep the check of their own message undecided.
 */
export class DnsError extends Error {
  override name = 'DnsError';
  readonly code: 'ENOTFOUND' | 'ENODATA' | 'ETIMEOUT' | 'ESERVFAIL';
  /** Nobody can tell whether the servers are late, or this thread. */
  readonly starved: boolean;
  constructor(code: DnsError['code'], starved = false) {
    super(code);
    this.code = code;
    this.starved = starved;
  }
}

/**
 * Limits the time of all look-ups of one message, which counts while one of them is under way. After
 * it, these and all further ones fail with ETIMEOUT. Call `end` when no more follow.
 */
export function limitLookups(resolve: Resolve, totalMs: number) {
  const underWay = new Set<(error: DnsError) => void>();
  let over: DnsError | undefined;
  let starved = false;
  const late = ({ isStarved }: RunTimer) => {
    over = new DnsError('ETIMEOUT', isStarved());
    for (const fail of underWay) fail(over);
  };
  const { cancel } = afterRunningMs(totalMs, late, () => underWay.size > 0);
  const limited: Resolve = (name, type) =>
    new Promise((done, reject) => {
      const fail = (error: unknown) => {
        starved ||= error instanceof DnsError && error.starved;
        reject(error instanceof Error ? error : new DnsError('ESERVFAIL'));
      };
      underWay.add(fail);
      const asked = over === undefined ? resolve(name, type) : Promise.reject(over);
      void asked.then(done, fail).finally(() => underWay.delete(fail));
    });
  return { resolve: limited, end: cancel, wereStarved: () => starved };
}

/** Created once: without DNS there are several for each message, and each would have a stack. */
const NOT_ASKED: DnsAnswer = { error: new DnsError('ETIMEOUT') };

const TROUBLE = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);
const SILENCE = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EDESTRUCTION', 'ENOMEM']);

/** No server has responded. */
function isUnanswered(error: unknown): boolean {
  return SILENCE.has(codeOf(error));
}

/** Converts any look-up error to one of the four codes. */
function toDnsError(error: unknown): DnsError {
  const code = codeOf(error);
  if (SILENCE.has(code)) return new DnsError('ETIMEOUT');
  if (TROUBLE.has(code)) return new DnsError('ESERVFAIL');
  return new DnsError(code === 'ENODATA' ? 'ENODATA' : 'ENOTFOUND');
}
