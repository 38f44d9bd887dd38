import type { ShopId } from '../../domain/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChatShop } from './shop.ts';

const HOUR_MS = 3_600_000;
/** Of each shop. Anyone can send any origin: further ones are counted, and logged once there is room. */
const MAX_KEPT = 20;
const MAX_CHARS = 100;

export interface RefusedOriginsParts {
  readonly metrics: Pick<Metrics, 'refused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells the operator about pages that show the widget and may not connect: once an hour for each origin. */
export class RefusedOrigins {
  readonly #parts: RefusedOriginsParts;
  /** When each was logged, by shop, oldest first. */
  readonly #loggedAt = new Map<ShopId, Map<string, number>>();

  constructor(parts: RefusedOriginsParts) {
    this.#parts = parts;
  }

  note({ shopId }: ChatShop, fullOrigin: string): void {
    const { metrics, clock, logger } = this.#parts;
    metrics.refused.inc({ channel: 'web_chat', reason: 'origin' });
    const origin = fullOrigin.slice(0, MAX_CHARS);
    const now = clock();
    const loggedAt = this.#loggedAt.get(shopId) ?? new Map<string, number>();
    this.#loggedAt.set(shopId, loggedAt);
    for (const [oldest, at] of loggedAt) {
      if (now - at < HOUR_MS) break;
      loggedAt.delete(oldest);
    }
    if (loggedAt.has(origin) || loggedAt.size >= MAX_KEPT) return;
    loggedAt.set(origin, now);
    logger.warn('chat.origin_refused', { shop: shopId, origin });
  }
}
