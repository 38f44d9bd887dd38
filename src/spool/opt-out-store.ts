import type { ShopId } from '../domain/ids.ts';

/**
 * Opt-outs from text messages, by SMS lane (account, channel, our number, theirs). `messageSid`
 * names the message that changed the state. Calls are idempotent per message, so they can be
 * repeated after a crash with the same result.
 */
export interface OptOutStore {
  isOptedOut(shopId: ShopId, lane: string): Promise<boolean>;
  optOut(shopId: ShopId, lane: string, messageSid: string): Promise<void>;
  /** True if the number was opted out and this message opted it in. */
  optIn(shopId: ShopId, lane: string, messageSid: string): Promise<boolean>;
}
