const HOUR_MS = 3_600_000;
/** Keys that are told apart; the one that has been quiet for the longest gives way. */
const MAX_KEYS = 10_000;

export interface BudgetSize {
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
