import type { Clock } from '../../runtime/clock.ts';

/** Where a password is given: in the page's form, or with each request of a program. */
export type Door = 'page' | 'program';

/**
 * How many wrong passwords are looked at. Of clients that nobody knows at most 100 in an hour, both
 * doors together (OWASP ASVS 4.0.3, 2.2.1), however many addresses they come from.
 */
const IN_ALL = {
  page: { burst: 30, perHour: 30 },
  program: { burst: 20, perHour: 20 },
} as const;
const PER_ADDRESS = { burst: 15, perHour: 15 } as const;
const PER_DEVICE = { burst: 10, perHour: 10 } as const;
const ALL = 'all';
/** Addresses from which somebody signed in of late: what is tried elsewhere does not lock them out. */
const MAX_KNOWN = 1000;
/** Wrong tries that are remembered. */
const MAX_WRONG = 1000;

export interface Try {
  readonly address: string;
  readonly door: Door;
  /** The same for the same name and password, as long as they mean the same. */
  readonly mark: string;
  /** A browser in which this operator has signed in before. */
  readonly device?: string | undefined;
}

/** How a try ended; `too_many`: the password was not checked. */
type Tried =
  | { readonly kind: 'right' | 'wrong' }
  | { readonly kind: 'too_many'; readonly retryAfter: number };

/** A budget, and the key in it. */
type BudgetKey = readonly [budget: GuessBudget, key: string];

/**
 * How often a password may be guessed (docs/decisions/0026-who-waits-when-somebody-guesses.md).
 * Over a limit no password is checked, not even the right one: an answer to that alone would let a
 * guesser go on. Clients that can be told apart from the guesser have limits of their own: a browser
 * that has signed in before, the sign-in page and programs, and each address.
 *
 * A right password costs nothing, and neither does the same wrong one again: a scraper with an old
 * password does not guess.
 */
export class LoginLimits {
  readonly #clock: Clock;
  readonly #perDevice = new GuessBudget(PER_DEVICE);
  readonly #perAddress = new GuessBudget(PER_ADDRESS);
  readonly #inAll = {
    page: new GuessBudget(IN_ALL.page),
    program: new GuessBudget(IN_ALL.program),
  };
  readonly #known = new Set<string>();
  readonly #wrong = new Set<string>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Looks, unless there were too many wrong ones. Tries of one client are looked at one after the
   * other: many at once are neither more guesses, nor too many when they are right.
   */
  async look(attempt: Try, isRight: () => Promise<boolean>): Promise<Tried> {
    const client = attempt.device ?? `${attempt.door} ${attempt.address}`;
    const before = this.#turns.get(client) ?? Promise.resolve();
    const mine = before.then(() => this.#look(attempt, isRight));
    const ended = mine.catch(() => undefined);
    this.#turns.set(client, ended);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(client) === ended) this.#turns.delete(client);
    }
  }

  async #look(attempt: Try, isRight: () => Promise<boolean>): Promise<Tried> {
    const now = this.#clock();
    const budgets = this.#budgetsOf(attempt);
    const waitMs = Math.max(...budgets.map(([budget, key]) => budget.waitMs(key, now)));
    if (waitMs > 0) return { kind: 'too_many', retryAfter: Math.ceil(waitMs / 1000) };
    const wrong = `${attempt.address} ${attempt.mark}`;
    if (this.#wrong.has(wrong)) return { kind: 'wrong' };
    // Spent before anybody looks: addresses do not wait for one another.
    for (const [budget, key] of budgets) budget.spend(key, now);
    if (await isRight()) {
      for (const [budget, key] of budgets) budget.giveBack(key, this.#clock());
      keep(this.#known, attempt.address, MAX_KNOWN);
      return { kind: 'right' };
    }
    keep(this.#wrong, wrong, MAX_WRONG);
    return { kind: 'wrong' };
  }

  #budgetsOf({ address, door, device }: Try): readonly BudgetKey[] {
    if (device !== undefined) return [[this.#perDevice, device]];
    const own: BudgetKey = [this.#perAddress, `${door} ${address}`];
    return this.#known.has(address) ? [own] : [own, [this.#inAll[door], ALL]];
  }
}

/** The last added are kept. */
function keep(set: Set<string>, value: string, most: number): void {
  set.delete(value);
  set.add(value);
  for (const oldest of set) {
    if (set.size <= most) break;
    set.delete(oldest);
  }
}

const HOUR_MS = 3_600_000;
/** Keys that are told apart; the one that has been quiet for the longest gives way. */
const MAX_KEYS = 10_000;

interface BudgetSize {
  /** Guesses that may come at once. */
  readonly burst: number;
  /** How many grow again in an hour: in no hour are there more than the two together. */
  readonly perHour: number;
}

/**
 * A token bucket for each key. One that is empty gives a guess every few minutes rather than none
 * for long: whoever waits because of somebody else's guesses waits for minutes once those end.
 */
export class GuessBudget {
  readonly #size: BudgetSize;
  readonly #spent = new Map<string, { readonly guesses: number; readonly at: number }>();

  constructor(size: BudgetSize) {
    this.#size = size;
  }

  /** Milliseconds until a guess of this key may be looked at; 0 when one may now. */
  waitMs(key: string, now: number): number {
    const over = this.#spentBy(key, now) + 1 - this.#size.burst;
    return over <= 0 ? 0 : Math.ceil((over * HOUR_MS) / this.#size.perHour);
  }

  spend(key: string, now: number): void {
    this.#keep(key, this.#spentBy(key, now) + 1, now);
  }

  giveBack(key: string, now: number): void {
    this.#keep(key, Math.max(0, this.#spentBy(key, now) - 1), now);
  }

  #spentBy(key: string, now: number): number {
    const { guesses, at } = this.#spent.get(key) ?? { guesses: 0, at: now };
    return Math.max(0, guesses - ((now - at) * this.#size.perHour) / HOUR_MS);
  }

  #keep(key: string, guesses: number, now: number): void {
    this.#spent.delete(key);
    if (guesses > 0) this.#spent.set(key, { guesses, at: now });
    for (const quietest of this.#spent.keys()) {
      if (this.#spent.size <= MAX_KEYS) break;
      this.#spent.delete(quietest);
    }
  }
}
