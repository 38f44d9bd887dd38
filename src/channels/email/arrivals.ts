import { emailDedupKey, emailLane, messageIdOf, remoteIds } from '../../intake/email-identity.ts';
import { type Inbox, selectInboxes } from '../../intake/email-inboxes.ts';
import { selectSender } from '../../intake/email-sender.ts';
import type { Arrival } from '../../intake/intake.ts';
import type { AddressDirectory } from '../../intake/routing.ts';
import type { EmailMeta } from './email-meta.ts';
import type { StoredMessage } from './message-sink.ts';

/** What a door knows of how a message came, for every recipient alike. */
export type Envelope = Pick<
  EmailMeta,
  'remoteAddress' | 'heloName' | 'tls' | 'trustedRelay' | 'envelopeFrom' | 'receivedHeader'
> & { readonly recipients: readonly string[]; readonly receivedAt: number };

/** One arrival per inbox that a stored message is for. Pure. */
export function toArrivals(
  directory: AddressDirectory,
  message: StoredMessage,
  envelope: Envelope,
): readonly Arrival[] {
  return selectInboxes(directory, message.head, envelope.recipients).flatMap((inbox) => {
    const shop = directory.shop(inbox.shopId);
    if (shop === undefined) return [];
    const sender = selectSender(message.head, shop.own, shop.sender);
    const dedupKey = emailDedupKey(inbox.agentContact, message.head, message.bodySha256);
    const hold = inbox.hold ?? (sender.kind === 'several' ? 'several_from' : undefined);
    return {
      shopId: inbox.shopId,
      channel: 'email' as const,
      lane: emailLane(sender, envelope.envelopeFrom, inbox.agentContact),
      dedupKey,
      ...remoteIds(message.head, message.rawSha256, dedupKey),
      meta: { ...toMeta(inbox, message, envelope) },
      raw: message.raw,
      receivedAt: envelope.receivedAt,
      ...(hold !== undefined && { hold }),
    };
  });
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
    rawSha256: message.rawSha256,
    ...(messageId !== undefined && { messageId }),
  };
}
