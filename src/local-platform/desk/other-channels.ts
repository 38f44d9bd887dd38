import { DeskRefused } from '../../domain/desk.ts';
import type { OtherChannel } from '../../domain/outbox.ts';
import type { ConversationRow, TicketRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/** A ticket with its conversation. */
interface Place {
  readonly ticket: TicketRow;
  readonly conversation: ConversationRow;
}

export interface OtherChannelParts {
  readonly store: Store;
  /** The address from which a shop writes to those who have not written to one. */
  readonly addressOfShop: (shop: string) => string | undefined;
}

/** Where a customer wrote. */
export interface CustomersPlace extends Place {
  /** Of the customer who is to be reached: others may have written in the same conversation. */
  readonly contactId: string | null;
}

/**
 * By what else a customer can be reached:
 * - by email, if the contact has an address, from the address that they wrote to or, if they never
 *   wrote one, from the shop's;
 * - by SMS only if they have written one: the number may be another person's, and only the lane of
 *   their texts says by which sender they are answered and whether they have opted out.
 */
export function otherChannelsOf(
  parts: OtherChannelParts,
  { ticket: { shop }, conversation, contactId }: CustomersPlace,
): OtherChannel[] {
  if (contactId === null) return [];
  const isOther = (channel: OtherChannel) => conversation.type !== channel;
  return [
    ...(isOther('email') && emailsOf(parts, shop, contactId) ? ['email' as const] : []),
    ...(isOther('sms') && parts.store.conversations.lastOf(contactId, shop, 'sms')
      ? ['sms' as const]
      : []),
  ];
}

/**
 * The conversation and ticket in which a reply goes out by another channel: by email a new thread, by
 * SMS the one that the customer's texts are in. Must run within a write.
 * @throws {DeskRefused} the customer cannot be reached so
 */
export function wayBy(
  channel: OtherChannel,
  parts: OtherChannelParts,
  place: CustomersPlace,
  now: string,
): Place {
  const { contactId } = place;
  const { shop } = place.ticket;
  if (contactId === null || !otherChannelsOf(parts, place).includes(channel)) {
    throw new DeskRefused('invalid', `The customer cannot be reached by ${channel}`);
  }
  if (channel === 'email') return newThread(parts, place, contactId, now);
  const { store } = parts;
  const conversation = store.conversations.lastOf(contactId, shop, 'sms');
  const ticket = conversation && store.tickets.byConversation(conversation.id);
  if (conversation === undefined || ticket === undefined)
    throw new DeskRefused('invalid', 'The texts are no longer stored');
  return { conversation, ticket };
}

function newThread(
  parts: OtherChannelParts,
  { ticket }: Place,
  contactId: string,
  now: string,
): Place {
  const { store } = parts;
  const { shop } = ticket;
  const found = emailsOf(parts, shop, contactId);
  if (found === undefined) throw new DeskRefused('invalid', 'An address is missing');
  const agentId = store.shops.agentId(shop);
  const conversation = store.conversations.create({
    ...{ shop, type: 'email', title: ticket.name, agentContact: found.ours, agentId, contactId },
    ...{ userId: null, topicId: null, intentId: null, now },
  });
  // So that the customer's answer joins the thread.
  store.conversations.addParticipants(conversation.id, [found.theirs]);
  const created = store.tickets.create({
    ...{ shop, contactId, conversationId: conversation.id, agentId },
    number: store.shops.nextTicketNumber(shop),
    ...{ name: ticket.name, excerpt: '', messageId: null, spokenAt: now, now },
  });
  return { conversation, ticket: created };
}

/** The addresses of an email to a contact. */
function emailsOf(
  { store, addressOfShop }: OtherChannelParts,
  shop: string,
  contactId: string,
): { readonly ours: string; readonly theirs: string } | undefined {
  const theirs = store.contacts.byId(shop, contactId)?.email ?? undefined;
  const ours =
    store.conversations.lastOf(contactId, shop, 'email')?.agent_contact ?? addressOfShop(shop);
  return theirs === undefined || ours === undefined ? undefined : { ours, theirs };
}
