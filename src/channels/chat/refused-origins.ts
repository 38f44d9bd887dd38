import type { ShopId } from '../../domain/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Seldom } from '../../runtime/seldom.ts';
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
  readonly #ofShops = new Map<ShopId, Seldom>();

  constructor(parts: RefusedOriginsParts) {
    this.#parts = parts;
  }

  note({ shopId }: ChatShop, fullOrigin: string): void {
    const { metrics, clock, logger } = this.#parts;
    metrics.refused.inc({ channel: 'web_chat', reason: 'origin' });
    const origin = fullOrigin.slice(0, MAX_CHARS);
    const seldom = this.#ofShops.get(shopId) ?? new Seldom(HOUR_MS, MAX_KEPT);
    this.#ofShops.set(shopId, seldom);
    if (!seldom.isDue(origin, clock())) return;
    logger.warn('chat.origin_refused', { shop: shopId, origin });
  }
}
