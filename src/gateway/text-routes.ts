import { readLane } from '../channels/sms/receive.ts';
import type { FindTextRoute } from '../local-platform/outbound/text-route.ts';
import type { OptOutStore } from '../spool/opt-out-store.ts';
import type { Spool } from '../spool/spool.ts';
import { asShopId } from '../domain/ids.ts';

export interface RoutedStore {
  readonly spool: Pick<Spool, 'laneOf'>;
  readonly optOuts: Pick<OptOutStore, 'isOptedOut'>;
}

/**
 * Tells the embedded platform how a text came and whether its sender has opted out. By the message's
 * entry, which is there before the platform has the message; by the conversation's lane once the
 * entry is swept. A message that brings late media has an entry of its own.
 */
export function textRoutes({ spool, optOuts }: RoutedStore): FindTextRoute {
  return async ({ shop, remoteId, conversationId }) => {
    const shopId = asShopId(shop);
    const known = { shopId, channel: 'sms', dedupKey: remoteId, conversationId } as const;
    const lane = await spool.laneOf(known);
    if (lane === undefined) return undefined;
    return { ...readLane(lane), isOptedOut: await optOuts.isOptedOut(shopId, lane) };
  };
}
