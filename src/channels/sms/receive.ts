import type { Arrival } from '../../intake/intake.ts';
import { eventArrival } from '../../intake/timeline-event.ts';
import { parseAddress, subscriberOf, type Transport, TRANSPORTS } from './address.ts';
import type { ReceivedText, WebhookContent } from './provider.ts';
import { isOurs, type SmsShop } from './shop.ts';
import { storedForm } from './stored.ts';

/**
 * The conversation of a message: account, transport, our number, their number. Both forms of a
 * number that has two belong to one lane, so the texts of one person are never delivered
 * concurrently.
 */
export function laneOf({
  account,
  to,
  from,
}: Pick<ReceivedText, 'account' | 'to' | 'from'>): string {
  const ours = parseAddress(to);
  const theirs = subscriberOf(parseAddress(from).address);
  return [account, ours.transport, ours.address, theirs].join('/');
}

/** Reads back what `laneOf` wrote. */
export function readLane(lane: string): {
  readonly transport: Transport;
  /** Without the transport's prefix; `theirs` in the form that is used for both. */
  readonly ours: string;
  readonly theirs: string;
} {
  const [, found, ours = '', theirs = ''] = lane.split('/');
  const transport = TRANSPORTS.find((one) => one === found);
  if (transport === undefined) throw new TypeError('not the lane of a text');
  return { transport, ours, theirs };
}

/** What is stored of a request. */
export type LastingContent = WebhookContent & { readonly kind: 'message' | 'echo' | 'event' };

/** The arrival of each; an echo is in the lane of its conversation. */
export function arrivalOfContent(shop: SmsShop, content: LastingContent): Arrival {
  const { kind, text } = content;
  if (kind === 'message') return arrivalOf(shop, text);
  if (kind === 'echo') return arrivalOf(shop, { ...text, meta: { ...text.meta, echo: true } });
  const { shopId } = shop;
  const where = { shopId, channel: 'sms', lane: laneOf(text), dedupKey: text.id } as const;
  return eventArrival(content.event, where);
}

/**
 * The arrival of one message, as one to the shop's own number.
 * @param receivedAt for a text that was listed: when it was sent, milliseconds since the epoch
 */
export function arrivalOf(shop: SmsShop, received: ReceivedText, receivedAt?: number): Arrival {
  const text = { ...received, to: ownAddress(shop, received) };
  return {
    shopId: shop.shopId,
    channel: 'sms',
    lane: laneOf(text),
    dedupKey: text.id,
    remoteId: text.id,
    ...storedForm(text),
    ...(receivedAt !== undefined && { receivedAt }),
  };
}

/**
 * Of the recipients of a group's text, the shop's own number: the others are strangers, who must be
 * neither in the lane nor in `agent_contact`. A text that was found by its service keeps its `to`.
 */
function ownAddress(shop: SmsShop, { to, alsoTo = [] }: ReceivedText): string {
  return [to, ...alsoTo].find((each) => isOurs(shop, each)) ?? to;
}
