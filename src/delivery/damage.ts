import type { EntryId } from '../domain/ids.ts';
import type { Clock } from '../runtime/clock.ts';

const WINDOW_MS = 600_000;
const WIDESPREAD = 3;

/**
 * The entries whose raw bytes were damaged when they were read in the last ten minutes. Three of them
 * are a fault of the storage or of the way to it, which ends, and not of the entries.
 */
export class Damage {
  readonly #clock: Clock;
  readonly #seenAt = new Map<EntryId, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether it is widespread now. */
  add(id: EntryId): boolean {
    const now = this.#clock();
    for (const [each, at] of this.#seenAt) if (now - at > WINDOW_MS) this.#seenAt.delete(each);
    this.#seenAt.set(id, now);
    return this.#seenAt.size >= WIDESPREAD;
  }
}
