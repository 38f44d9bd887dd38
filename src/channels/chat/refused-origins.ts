import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChatShop } from './shop.ts';

const HOUR_MS = 3_600_000;
/** Anyone can send any origin: further ones are counted, and logged once there is room. */
const MAX_KEPT = 100;
const MAX_CHARS = 100;

export interface RefusedOriginsParts {
  readonly metrics: Pick<Metrics, 'refused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells the operator about pages that show the widget and may not connect: once an hour for each origin. */
export class RefusedOrigins {
  readonly #parts: RefusedOriginsParts;
  /** When each was logged, oldest first. */
  readonly #loggedAt = new Map<string, number>();

  constructor(parts: RefusedOriginsParts) {
    this.#parts = parts;
  }

  note({ shopId }: ChatShop, fullOrigin: string): void {
    const { metrics, clock, logger } = this.#parts;
    metrics.refused.inc({ channel: 'web_chat', reason: 'origin' });
    const origin = fullOrigin.slice(0, MAX_CHARS);
    const key = `${shopId} ${origin}`;
    const now = clock();
    for (const [oldest, at] of this.#loggedAt) {
      if (now - at < HOUR_MS) break;
      this.#loggedAt.delete(oldest);
    }
    if (this.#loggedAt.has(key) || this.#loggedAt.size >= MAX_KEPT) return;
    this.#loggedAt.set(key, now);
    logger.warn('chat.origin_refused', { shop: shopId, origin });
  }
}
