import { optOutsOf, replyAddress } from '../channels/sms/person.ts';
import { readLane } from '../channels/sms/receive.ts';
import { isRemoteId } from '../channels/sms/stored.ts';
import type { FindTextRoute } from '../local-platform/outbound/text-route.ts';
import type { OptOutStore } from '../spool/opt-out-store.ts';
import type { Spool } from '../spool/spool.ts';
import { asShopId } from '../domain/ids.ts';

export interface RoutedStore {
  readonly spool: Pick<Spool, 'laneOf' | 'personOf'>;
  readonly optOuts: OptOutStore;
}

/**
 * Tells the embedded platform how a text arrived and whether its sender has opted out. It reads the
 * message's entry, which is written before the platform gets the message, or the conversation's
 * lane once the entry has been swept. A message that delivers late media has its own entry. An id
 * that a provider could have given to a text is taken for one whose route is lost, although another
 * client of the API may also have chosen it: otherwise the reply could go to a person who opted out.
 */
export function textRoutes({ spool, optOuts }: RoutedStore): FindTextRoute {
  return async ({ shop, remoteId, conversationId }) => {
    const shopId = asShopId(shop);
    const known = { shopId, channel: 'sms', dedupKey: remoteId, conversationId } as const;
    const lane = await spool.laneOf(known);
    if (lane === undefined) {
      return remoteId !== undefined && isRemoteId(remoteId) ? 'lost' : undefined;
    }
    const route = readLane(lane);
    const isNamed = route.transport === 'whatsapp';
    const person = isNamed ? await spool.personOf({ shopId, channel: 'sms', lane }) : undefined;
    return {
      ...{ ...route, theirs: (person && replyAddress(person)) ?? route.theirs },
      ...(person && { conversations: person.conversations }),
      isOptedOut: await optOutsOf(optOuts, person).isOptedOut(shopId, lane),
    };
  };
}
