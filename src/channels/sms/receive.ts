import { personLane, type Sighting } from '../../domain/person-names.ts';
import type { Arrival } from '../../intake/intake.ts';
import { subscriberOf } from '../../domain/phone-forms.ts';
import { eventArrival } from '../../intake/timeline-event.ts';
import { isE164, isUserId, parseAddress, type Transport, TRANSPORTS } from './address.ts';
import type { ReceivedText, WebhookContent } from './provider.ts';
import { isOurs, type SmsShop } from './shop.ts';
import { storedForm } from './stored.ts';

/**
 * The conversation of a message: account, transport, our number, their number. Both forms of a
 * number that has two belong to one lane, so the texts of one person are never delivered
 * concurrently. On WhatsApp, the store chooses the person's lane by `senderOf`.
 */
export function laneOf(text: Pick<ReceivedText, 'account' | 'to' | 'from'>): string {
  return personLane(placeOf(text), subscriberOf(parseAddress(text.from).address));
}

function placeOf({ account, to }: Pick<ReceivedText, 'account' | 'to'>) {
  const ours = parseAddress(to);
  return { scope: `${account}/${ours.transport}`, ours: ours.address };
}

/** The names of the sender of a message from WhatsApp; undefined if it has only one that never changes. */
function senderOf(text: ReceivedText): Sighting | undefined {
  const from = parseAddress(text.from);
  if (from.transport !== 'whatsapp') return undefined;
  const own = isE164(from.address)
    ? { number: from.address }
    : isUserId(from) && { userId: from.address };
  if (own === false) return undefined;
  const names = { ...own, ...text.names };
  const { number, previousNumber } = names;
  return {
    ...placeOf(text),
    ...names,
    ...(number !== undefined && { number: subscriberOf(number) }),
    ...(previousNumber !== undefined && { previousNumber: subscriberOf(previousNumber) }),
    at: text.writtenAt ?? NaN,
  };
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
  const sender = senderOf(text);
  return {
    shopId: shop.shopId,
    channel: 'sms',
    lane: laneOf(text),
    ...(sender && { sender }),
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
