import { getDomain } from 'tldts';
import type { ShopId } from '../../domain/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Seldom } from '../../runtime/seldom.ts';
import { type ChatShop, Origins } from './shop.ts';

const HOUR_MS = 3_600_000;
/** Of each shop. Anyone can send any origin: further ones are counted, and logged once there is room. */
const MAX_KEPT = 20;
const MAX_CHARS = 100;

export interface RefusedOriginsParts {
  readonly metrics: Pick<Metrics, 'refused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where a page shows the widget, and may not connect. */
export interface RefusedOrigin {
  readonly origin: string;
  /** It shares its registrable domain with a page of the shop or with the gateway. */
  readonly isOwn: boolean;
  /** Seen last, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Tells the operator about pages that show the widget and may not connect: in the log once an hour for
 * each origin, and as a list since the start.
 */
export class RefusedOrigins {
  readonly #parts: RefusedOriginsParts;
  readonly #ofShops = new Map<
    ShopId,
    { readonly logged: Seldom; readonly seen: Map<string, RefusedOrigin> }
  >();

  constructor(parts: RefusedOriginsParts) {
    this.#parts = parts;
  }

  /** @param publicUrl `http.publicUrl` */
  note({ shopId, origins }: ChatShop, fullOrigin: string, publicUrl: string): void {
    const { metrics, clock, logger } = this.#parts;
    metrics.refused.inc({ channel: 'web_chat', reason: 'origin' });
    // A header may have bytes that a terminal takes for commands.
    const origin = fullOrigin.slice(0, MAX_CHARS).replace(/[^\x21-\x7e]/g, '?');
    const of = this.#ofShops.get(shopId) ?? {
      logged: new Seldom(HOUR_MS, MAX_KEPT),
      seen: new Map<string, RefusedOrigin>(),
    };
    this.#ofShops.set(shopId, of);
    const { logged, seen } = of;
    const isOwn = [...origins, publicUrl].some((each) => areOneSite(origin, each));
    // Made-up origins leave room for the shop's own.
    const alike = [...seen.values()].filter((each) => each.isOwn === isOwn);
    if (seen.has(origin) || alike.length < MAX_KEPT / 2)
      seen.set(origin, { origin, isOwn, at: clock() });
    if (logged.isDue(origin, clock())) logger.warn('chat.origin_refused', { shop: shopId, origin });
  }

  /** Without those that the shop admits by now. */
  of(shop: ChatShop): RefusedOrigin[] {
    const seen = this.#ofShops.get(shop.shopId)?.seen.values() ?? [];
    return [...seen].filter(({ origin }) => !Origins.admits(shop, origin));
  }
}

/** Whether two URLs have the same registrable domain. Of hosts at one provider, each is another's. */
function areOneSite(one: string, other: string): boolean {
  const domain = getDomain(one, { allowPrivateDomains: true });
  return domain !== null && domain === getDomain(other, { allowPrivateDomains: true });
}
