import { ENDPOINTS } from '../spool/shop-health.ts';
import type { ShopId } from '../domain/ids.ts';
import type { AttemptParts } from './attempt.ts';
import type { ShopPlatform } from './shop-platform.ts';

const LOOK_EVERY_MS = 30_000;
/** The delay between two portions of the lanes within one pass. */
const NEXT_PORTION_AFTER_MS = 250;
const UNCLAIMED_AT_MOST_MS = 120_000;

/**
 * Looks for states that must not occur: an entry that stays due and unclaimed for two minutes
 * although there are free slots, a lane whose head cannot be claimed, a shop in trouble without a
 * next probe. It repairs them and logs each as a fault: each is a bug in this program.
 */
export class Watchdog {
  readonly #parts: Pick<AttemptParts, 'spool' | 'logger' | 'metrics' | 'clock'>;
  readonly #wake: () => void;
  #lookAt: number;
  /** Since when each shop has had a due entry that it could have sent and did not claim. */
  readonly #dueSince = new Map<ShopId, number>();
  #lanesAfter = Number.MIN_SAFE_INTEGER;

  /** @param wake makes the dispatcher claim at once */
  constructor(
    parts: Pick<AttemptParts, 'spool' | 'logger' | 'metrics' | 'clock'>,
    wake: () => void,
  ) {
    this.#parts = parts;
    this.#wake = wake;
    this.#lookAt = parts.clock() + LOOK_EVERY_MS;
  }

  /** @param lastBusyAt when a shop's entries were last claimed or the shop had no free slot */
  async look(
    shops: readonly ShopPlatform[],
    lastBusyAt: (shopId: ShopId) => number,
  ): Promise<void> {
    const now = this.#parts.clock();
    if (now < this.#lookAt) return;
    const wasPaused = now - this.#lookAt > LOOK_EVERY_MS;
    this.#lookAt = now + LOOK_EVERY_MS;
    if (wasPaused) {
      // The process was suspended: due entries and attempts in flight get their full time again.
      this.#dueSince.clear();
      return;
    }
    this.#probes(shops, now);
    const { lanes, lanesUpTo, due, released } = await this.#parts.spool.repair({
      shops: shops.map(({ settings }) => settings.shopId),
      lanesAfter: this.#lanesAfter,
    });
    if (lanes > 0) this.#found('lane_without_head', { lanes });
    const sending = shops.filter(maySend).map(({ settings }) => settings.shopId);
    const left = due.filter((shopId) => sending.includes(shopId));
    const unclaimed = this.#unclaimed(left, lastBusyAt, now);
    for (const shopId of unclaimed) this.#found('entry_not_claimed', { shopId });
    if (lanes + unclaimed.length + released > 0) this.#wake();
    this.#lanesAfter = lanesUpTo ?? Number.MIN_SAFE_INTEGER;
    if (lanesUpTo !== undefined) this.#lookAt = now + NEXT_PORTION_AFTER_MS;
  }

  /** The shops among these that have left a due entry unclaimed for two minutes. */
  #unclaimed(
    due: readonly ShopId[],
    lastBusyAt: (shopId: ShopId) => number,
    now: number,
  ): readonly ShopId[] {
    for (const shopId of this.#dueSince.keys()) {
      if (!due.includes(shopId)) this.#dueSince.delete(shopId);
    }
    return due.filter((shopId) => {
      const since = this.#dueSince.get(shopId);
      const isSeenAgain = since !== undefined && lastBusyAt(shopId) <= since;
      if (isSeenAgain && now - since < UNCLAIMED_AT_MOST_MS) return false;
      this.#dueSince.set(shopId, now);
      return isSeenAgain;
    });
  }

  #probes(shops: readonly ShopPlatform[], now: number): void {
    for (const { settings, health } of shops) {
      for (const part of ENDPOINTS) {
        if (!health[part].repairProbe(now)) continue;
        this.#found('no_next_probe', { shop: settings.name, part });
      }
    }
  }

  #found(fault: string, fields: Record<string, string | number | ShopId>): void {
    const { metrics, logger } = this.#parts;
    metrics.alarms.inc({ alarm: 'watchdog' });
    logger.error('watchdog.repaired', { fault, ...fields });
  }
}

const maySend = ({ health: { messages } }: ShopPlatform): boolean =>
  messages.state !== 'open' && messages.allowance > 0;
