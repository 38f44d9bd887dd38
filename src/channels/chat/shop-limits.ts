import type { ShopId } from '../../domain/ids.ts';
import type { ChatLimitOptions, ChatShop } from './shop.ts';
import { ChatLimits } from './limits.ts';

interface Kept {
  readonly options: ChatLimitOptions;
  readonly limits: ChatLimits;
}

/**
 * The rates of each shop. What has been counted stays when the shops change, unless it is these
 * rates that have changed. Those of a shop that is gone stay too: its last requests end by them.
 */
export class ShopLimits {
  readonly #byShop = new Map<ShopId, Kept>();

  constructor(shops: readonly ChatShop[]) {
    this.serve(shops);
  }

  serve(shops: readonly ChatShop[]): void {
    for (const { shopId, limits: options } of shops) {
      const kept = this.#byShop.get(shopId);
      if (kept !== undefined && isSame(kept.options, options)) continue;
      this.#byShop.set(shopId, { options, limits: new ChatLimits(options) });
    }
  }

  of({ shopId }: ChatShop): ChatLimits {
    const kept = this.#byShop.get(shopId);
    if (kept === undefined) throw new Error('a shop that the chat was never told of');
    return kept.limits;
  }
}

const isSame = (one: ChatLimitOptions, other: ChatLimitOptions): boolean =>
  one.messagesPer10s === other.messagesPer10s &&
  one.newVisitorsPerHourPerIp === other.newVisitorsPerHourPerIp &&
  one.socketsPerIp === other.socketsPerIp &&
  one.uploadBytesPerHourPerIp === other.uploadBytesPerHourPerIp;
