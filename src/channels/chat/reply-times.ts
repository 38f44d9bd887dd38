import type { ShopId } from '../../domain/ids.ts';

/** The newest replies of a shop that are measured. */
const KEPT = 50;
/** With fewer, nothing is said. */
const LEAST = 5;
const [MINUTE, HOUR] = [60, 3_600];
/** What a visitor is told, in seconds; nothing about a shop that is slower. */
const SHORT_STEPS = [1, 2, 5, 10, 15, 30];
const STEPS = [...SHORT_STEPS, ...SHORT_STEPS.map((n) => n * MINUTE)];
const LONG_STEPS = [1, 2, 4, 8, 24].map((n) => n * HOUR);

/** How long visitors of each shop waited for the first reply, since this gateway was started. */
export class ReplyTimes {
  readonly #waits = new Map<ShopId, number[]>();

  note(shopId: ShopId, waitedMs: number): void {
    const waits = this.#waits.get(shopId) ?? [];
    this.#waits.set(shopId, waits);
    waits.push(Math.max(0, waitedMs));
    if (waits.length > KEPT) waits.shift();
  }

  /** The median, rounded up to a time that people say; undefined without a measure. */
  usualSeconds(shopId: ShopId): number | undefined {
    const waits = this.#waits.get(shopId)?.toSorted((one, other) => one - other) ?? [];
    const median = waits[Math.floor(waits.length / 2)];
    if (median === undefined || waits.length < LEAST) return undefined;
    return [...STEPS, ...LONG_STEPS].find((step) => median <= step * 1_000);
  }
}
