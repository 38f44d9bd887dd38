import type { ShopId } from '../domain/ids.ts';

/**
 * Who has opted out of texts; the key is the SMS lane (account, channel, our number, theirs).
 * `messageSid` names the message that says so. Each call may be made again for the same message,
 * as after a crash, and answers the same.
 */
export interface OptOutStore {
  isOptedOut(shopId: ShopId, lane: string): Promise<boolean>;
  optOut(shopId: ShopId, lane: string, messageSid: string): Promise<void>;
  /** True: they had opted out, and this message opted them in. */
  optIn(shopId: ShopId, lane: string, messageSid: string): Promise<boolean>;
}
