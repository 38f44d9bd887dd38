import type { ShopId } from '../types/ids.ts';

/** Who has opted out of texts; the key is the SMS lane (account, channel, our number, theirs). */
export interface OptOutStore {
  isOptedOut(shopId: ShopId, lane: string): Promise<boolean>;
  setOptedOut(shopId: ShopId, lane: string, optedOut: boolean): Promise<void>;
}
