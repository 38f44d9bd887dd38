import type { Clock } from '../../runtime/clock.ts';

/** Where a password is given: on the sign-in page, or with each request of a program. */
export type LoginSource = 'page' | 'program';

/**
 * Limits of wrong passwords over all addresses. Unknown clients may check at most 100 passwords in
 * an hour (OWASP ASVS 4.0.3, 2.2.1): twice the two bursts.
 */
const TOTAL = {
  page: { burst: 30, perHour: 30 },
  program: { burst: 20, perHour: 20 },
} as const;
const PER_ADDRESS = { burst: 15, perHour: 15 } as const;
const PER_DEVICE = { burst: 10, perHour: 10 } as const;
const ALL = 'all';
/** Limit of known addresses: those of recent sign-ins, which are exempt from the total limits. */
const MAX_KNOWN = 1000;
/** Limit of remembered wrong passwords. */
const MAX_WRONG = 1000;

export interface LoginAttempt {
  readonly address: string;
  readonly source: LoginSource;
  /** Equal for equal names and passwords while the accounts are unchanged. */
  readonly fingerprint: string;
  /** The id of a browser in which this operator has signed in before. */
  readonly device?: string | undefined;
}

/** The result of an attempt; with `too_many` the password was not checked. */
type LoginResult =
  | { readonly kind: 'right' | 'wrong' }
  | { readonly kind: 'too_many'; readonly retryAfter: number };

/** A budget and a key in it. */
type BudgetKey = readonly [budget: GuessBudget, key: string];

/**
 * Limits guessing of passwords (docs/decisions/0026-password-rate-limits.md). Above a
 * limit no password is checked, since accepting only the right one would allow guessing to
 * continue. Limits are separate for browsers that have signed in before, for the sign-in page and
 * programs, and for each address.
 *
 * Right passwords do not count, and neither does the same wrong one again: a scraper with an
 * outdated password is not guessing.
 */
export class LoginLimits {
  readonly #clock: Clock;
  readonly #perDevice = new GuessBudget(PER_DEVICE);
  readonly #perAddress = new GuessBudget(PER_ADDRESS);
  readonly #total = {
    page: new GuessBudget(TOTAL.page),
    program: new GuessBudget(TOTAL.program),
  };
  readonly #known = new Set<string>();
  readonly #wrong = new Set<string>();
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Checks a password, unless a limit is reached. Attempts of one client are checked one after the
   * other, so that concurrent right ones do not reach the limit.
   */
  async check(attempt: LoginAttempt, isRight: () => Promise<boolean>): Promise<LoginResult> {
    const client = attempt.device ?? `${attempt.source} ${attempt.address}`;
    const before = this.#queues.get(client) ?? Promise.resolve();
    const mine = before.then(() => this.#check(attempt, isRight));
    const ended = mine.catch(() => undefined);
    this.#queues.set(client, ended);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(client) === ended) this.#queues.delete(client);
    }
  }

  async #check(attempt: LoginAttempt, isRight: () => Promise<boolean>): Promise<LoginResult> {
    const now = this.#clock();
    const budgets = this.#budgetsOf(attempt);
    const waitMs = Math.max(...budgets.map(([budget, key]) => budget.waitMs(key, now)));
    if (waitMs > 0) return { kind: 'too_many', retryAfter: Math.ceil(waitMs / 1000) };
    const wrong = `${attempt.address} ${attempt.fingerprint}`;
    if (this.#wrong.has(wrong)) return { kind: 'wrong' };
    // Spent before the check, since other addresses are checked concurrently.
    for (const [budget, key] of budgets) budget.spend(key, now);
    if (await isRight()) {
      for (const [budget, key] of budgets) budget.refund(key, this.#clock());
      addBounded(this.#known, attempt.address, MAX_KNOWN);
      return { kind: 'right' };
    }
    addBounded(this.#wrong, wrong, MAX_WRONG);
    return { kind: 'wrong' };
  }

  #budgetsOf({ address, source, device }: LoginAttempt): readonly BudgetKey[] {
    if (device !== undefined) return [[this.#perDevice, device]];
    const own: BudgetKey = [this.#perAddress, `${source} ${address}`];
    return this.#known.has(address) ? [own] : [own, [this.#total[source], ALL]];
  }
}

/** Adds a value and removes the oldest ones above the limit. */
function addBounded(set: Set<string>, value: string, most: number): void {
  set.delete(value);
  set.add(value);
  for (const oldest of set) {
    if (set.size <= most) break;
    set.delete(oldest);
  }
}

const HOUR_MS = 3_600_000;
/** Limit of keys; the one unused for the longest time is removed. */
const MAX_KEYS = 10_000;

interface BudgetSize {
  /** Guesses allowed at once. */
  readonly burst: number;
  /** Guesses added per hour; an hour allows at most `burst + perHour`. */
  readonly perHour: number;
}

/**
 * A token bucket for each key. An empty bucket allows one guess every few minutes, so a legitimate
 * user waits only minutes once the guessing ends.
 */
export class GuessBudget {
  readonly #size: BudgetSize;
  readonly #spent = new Map<string, { readonly guesses: number; readonly at: number }>();

  constructor(size: BudgetSize) {
    this.#size = size;
  }

  /** Milliseconds until the key may be used for a guess; 0 for now. */
  waitMs(key: string, now: number): number {
    const over = this.#spentBy(key, now) + 1 - this.#size.burst;
    return over <= 0 ? 0 : Math.ceil((over * HOUR_MS) / this.#size.perHour);
  }

  spend(key: string, now: number): void {
    this.#addBounded(key, this.#spentBy(key, now) + 1, now);
  }

  refund(key: string, now: number): void {
    this.#addBounded(key, Math.max(0, this.#spentBy(key, now) - 1), now);
  }

  #spentBy(key: string, now: number): number {
    const { guesses, at } = this.#spent.get(key) ?? { guesses: 0, at: now };
    return Math.max(0, guesses - ((now - at) * this.#size.perHour) / HOUR_MS);
  }

  #addBounded(key: string, guesses: number, now: number): void {
    this.#spent.delete(key);
    if (guesses > 0) this.#spent.set(key, { guesses, at: now });
    for (const quietest of this.#spent.keys()) {
      if (this.#spent.size <= MAX_KEYS) break;
      this.#spent.delete(quietest);
    }
  }
}
