import type { Clock } from './clock.ts';

const HOUR_MS = 3_600_000;
/** Limit of keys of a budget in memory; the one unused for the longest time is removed. */
const MAX_KEYS = 10_000;

export interface BudgetSize {
  /** What may be spent at once. */
  readonly burst: number;
  /** What is added per hour; an hour allows at most `burst + perHour`. */
  readonly perHour: number;
}

/**
 * A token bucket for each key: a limit of what one client may use. An empty bucket fills up all the
 * time, so a legitimate client waits only minutes.
 */
export interface Budget {
  /**
   * Spends an amount, or nothing if the budget does not have it.
   * @returns the milliseconds until it has the amount; 0: spent
   */
  spend(key: string, amount?: number): Promise<number>;
  refund(key: string, amount?: number): Promise<void>;
}

/**
 * Opens the budget of a name. Gateways with a common store share it, so a client has no more at
 * many gateways than at one.
 */
export type OpenBudget = (name: string, size: BudgetSize) => Budget;

/** Budgets of this process alone, which are full at its start. */
export const budgetsInMemory =
  (clock: Clock): OpenBudget =>
  (_name, size) =>
    new MemoryBudget(size, clock);

class MemoryBudget implements Budget {
  readonly #size: BudgetSize;
  readonly #clock: Clock;
  readonly #spent = new Map<string, { readonly amount: number; readonly at: number }>();

  constructor(size: BudgetSize, clock: Clock) {
    this.#size = size;
    this.#clock = clock;
  }

  spend(key: string, amount = 1): Promise<number> {
    const now = this.#clock();
    const spent = this.#spentBy(key, now) + amount;
    const { burst, perHour } = this.#size;
    if (spent > burst) return Promise.resolve(Math.ceil(((spent - burst) * HOUR_MS) / perHour));
    this.#keep(key, spent, now);
    return Promise.resolve(0);
  }

  refund(key: string, amount = 1): Promise<void> {
    const now = this.#clock();
    this.#keep(key, Math.max(0, this.#spentBy(key, now) - amount), now);
    return Promise.resolve();
  }

  #spentBy(key: string, now: number): number {
    const { amount, at } = this.#spent.get(key) ?? { amount: 0, at: now };
    return Math.max(0, amount - ((now - at) * this.#size.perHour) / HOUR_MS);
  }

  #keep(key: string, amount: number, at: number): void {
    this.#spent.delete(key);
    if (amount > 0) this.#spent.set(key, { amount, at });
    for (const quietest of this.#spent.keys()) {
      if (this.#spent.size <= MAX_KEYS) break;
      this.#spent.delete(quietest);
    }
  }
}
