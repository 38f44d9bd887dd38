import type { ShopId } from '../types/ids.ts';
import type { AttemptParts } from './attempt.ts';
import type { ShopPlatform } from './shop-platform.ts';

const LOOK_EVERY_MS = 30_000;
/** While it is at it, one portion of the lanes after the other. */
const NEXT_PORTION_AFTER_MS = 250;
const UNCLAIMED_AT_MOST_MS = 120_000;

/**
 * Looks for what should not be: an entry that is due and not claimed for two minutes while there
 * are slots, a lane whose head nobody can claim, a shop in trouble without a next probe. It puts
 * right what it finds, and names the fault: each is a bug of ours.
 */
export class Watchdog {
  readonly #parts: Pick<AttemptParts, 'spool' | 'logger' | 'metrics' | 'clock'>;
  readonly #wake: () => void;
  #lookAt: number;
  #awakeSince: number;
  #lanesAfter = Number.MIN_SAFE_INTEGER;

  /** @param wake has the dispatcher claim at once */
  constructor(
    parts: Pick<AttemptParts, 'spool' | 'logger' | 'metrics' | 'clock'>,
    wake: () => void,
  ) {
    this.#parts = parts;
    this.#wake = wake;
    this.#awakeSince = parts.clock();
    this.#lookAt = this.#awakeSince + LOOK_EVERY_MS;
  }

  /** @param lastClaimAt of a shop; while its entries are claimed, others of it wait rightly */
  async look(
    shops: readonly ShopPlatform[],
    lastClaimAt: (shopId: ShopId) => number,
  ): Promise<void> {
    const now = this.#parts.clock();
    if (now < this.#lookAt) return;
    // The whole process was paused, or it has just begun: what is due has not had its two minutes.
    if (now - this.#lookAt > LOOK_EVERY_MS) this.#awakeSince = now;
    const hasLooked = now - this.#awakeSince > UNCLAIMED_AT_MOST_MS;
    this.#probes(shops, now);
    const { lanes, lanesUpTo, overdue, released } = await this.#parts.spool.repair({
      shops: shops.map((shop) => ({
        shopId: shop.settings.shopId,
        claims:
          hasLooked &&
          mayClaimAll(shop) &&
          lastClaimAt(shop.settings.shopId) < now - UNCLAIMED_AT_MOST_MS,
        refusals: shop.alike.numbers(),
      })),
      lanesAfter: this.#lanesAfter,
      dueBefore: now - UNCLAIMED_AT_MOST_MS,
    });
    if (lanes > 0) this.#found('lane_without_head', { lanes });
    for (const shop of overdue) this.#found('entry_not_claimed', { shopId: shop });
    if (lanes + overdue.length + released > 0) this.#wake();
    this.#lanesAfter = lanesUpTo ?? Number.MIN_SAFE_INTEGER;
    this.#lookAt = now + (lanesUpTo === undefined ? LOOK_EVERY_MS : NEXT_PORTION_AFTER_MS);
  }

  #probes(shops: readonly ShopPlatform[], now: number): void {
    for (const { settings, health } of shops) {
      for (const part of ['messages', 'media'] as const) {
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

const mayClaimAll = ({ health }: ShopPlatform): boolean =>
  health.messages.state !== 'open' && health.messages.allowance > 0;
