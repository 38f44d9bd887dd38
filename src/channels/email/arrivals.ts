import { emailDedupKey, emailLane, messageIdOf, remoteIdIfTaken } from './identity.ts';
import { type Inbox, selectInboxes } from './inboxes.ts';
import { selectSender } from './sender.ts';
import type { Arrival } from '../../intake/intake.ts';
import type { AddressDirectory, DirectoryShop } from './routing.ts';
import type { EmailMeta } from './email-meta.ts';
import type { StoredMessage } from './message-sink.ts';
import { summaryOfHeaders } from './stored.ts';

/** What a door knows of how a message came, for every recipient alike. */
export type Envelope = Pick<
  EmailMeta,
  'remoteAddress' | 'heloName' | 'tls' | 'trustedRelay' | 'envelopeFrom' | 'receivedHeader'
> & { readonly recipients: readonly string[]; readonly receivedAt: number };

export interface EmailArrival extends Arrival {
  readonly meta: EmailMeta;
}

/** One arrival per inbox that a stored message is for. Pure. */
export function toArrivals(
  directory: AddressDirectory,
  message: StoredMessage,
  envelope: Envelope,
): readonly EmailArrival[] {
  const arrivals: EmailArrival[] = [];
  for (const inbox of selectInboxes(directory, message.head, envelope.recipients)) {
    const shop = directory.shop(inbox.shopId);
    if (shop !== undefined) arrivals.push(toArrival(inbox, shop, message, envelope));
  }
  return arrivals;
}

function toArrival(
  inbox: Inbox,
  shop: DirectoryShop,
  message: StoredMessage,
  envelope: Envelope,
): EmailArrival {
  const { shopId, agentContact } = inbox;
  const { head, raw, remoteId, bodySha256 } = message;
  const sender = selectSender(head, shop.own, shop.sender);
  const dedupKey = emailDedupKey(agentContact, head, bodySha256);
  const hold = inbox.hold ?? (sender.kind === 'several' ? 'several_from' : undefined);
  const meta = toMeta(inbox, message, envelope);
  return {
    shopId,
    channel: 'email',
    lane: emailLane(sender, envelope.envelopeFrom, agentContact),
    dedupKey,
    remoteId,
    remoteIdIfTaken: remoteIdIfTaken(remoteId, dedupKey),
    meta,
    raw,
    summary: summaryOfHeaders(meta, head),
    receivedAt: envelope.receivedAt,
    ...(hold !== undefined && { hold }),
  };
}

function toMeta(inbox: Inbox, message: StoredMessage, envelope: Envelope): EmailMeta {
  const messageId = messageIdOf(message.head);
  return {
    remoteAddress: envelope.remoteAddress,
    heloName: envelope.heloName,
    tls: envelope.tls,
    trustedRelay: envelope.trustedRelay,
    envelopeFrom: envelope.envelopeFrom,
    envelopeTo: [...inbox.recipients],
    agentContact: inbox.agentContact,
    ourAddressesMatched: [...inbox.ourAddresses],
    receivedHeader: envelope.receivedHeader,
    ...(messageId !== undefined && { messageId }),
  };
}
