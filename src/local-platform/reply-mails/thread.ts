import { randomUUID } from 'node:crypto';
import { remoteIdOf } from '../outbound/address-reply.ts';
import { excerptOf } from '../plain-text.ts';
import type { LeftAddressRow } from '../store/left-address-table.ts';
import {
  type ConversationRow,
  isWithPeople,
  type MessageRow,
  type TicketRow,
} from '../store/rows.ts';
import type { Store } from '../store/store.ts';

interface MailOptions {
  /** Of a new thread; nothing that the visitor wrote. */
  readonly subject: string;
  /** The shop's address in a new thread. */
  readonly from: string | undefined;
  readonly nowMs: number;
}

interface Thread {
  readonly conversation: ConversationRow;
  readonly ticket: TicketRow;
}

/**
 * Stores a reply in the chat as an email to the address that the visitor has confirmed, PENDING, in
 * the thread that has all of them. Must run within a write.
 * @returns undefined when the shop has no address to write from
 */
export function storeMail(
  store: Store,
  address: LeftAddressRow,
  reply: MessageRow,
  { subject, from, nowMs }: MailOptions,
): MessageRow | undefined {
  const now = new Date(nowMs).toISOString();
  const thread = threadOf(store, address) ?? newThread(store, address, { subject, from }, now);
  if (thread === undefined) return undefined;
  const { conversation, ticket } = thread;
  const id = randomUUID();
  const { shop, content, text, format } = reply;
  const mail = store.messages.create(
    {
      ...{ id, shop, content, text, format, role: 'agent', status: 'PENDING' },
      ...{ conversationId: conversation.id, ticketId: ticket.id, contactId: ticket.contact_id },
      ...{ agentId: reply.agent_id, ...(reply.user_id !== null && { userId: reply.user_id }) },
      remoteId: remoteIdOf(id, conversation, undefined),
      ...{ email: null, createdAt: now, now, unanswered: false },
      // It answers nothing of this thread, and quotes nothing of the chat.
      ...{ inReplyTo: null, sender: null, agentContact: null },
    },
    store.media.ofMessage(reply.id).map((file) => file.id),
  );
  recordMail(store, thread, reply, mail, now);
  store.outgoing.add(mail, nowMs);
  return mail;
}

function recordMail(
  store: Store,
  { conversation, ticket }: Thread,
  reply: MessageRow,
  mail: MessageRow,
  now: string,
): void {
  const chat = store.conversations.get(reply.conversation_id);
  // Who has the chat gets the answer to the mail too.
  const isPeoples =
    isWithPeople(conversation) ||
    reply.user_id !== null ||
    (chat !== undefined && isWithPeople(chat));
  // What the customer has asked by email since is still to be answered.
  const isAsked =
    ticket.waits_since !== null && store.messages.lastOfCustomer(conversation.id) !== undefined;
  const turn = !isAsked ? 'WaitingContact' : isPeoples ? 'WaitingUser' : 'Open';
  store.tickets.recordMessage(ticket.id, turn, excerptOf(mail.text), now);
  store.conversations.setStatus({ id: conversation.id, status: 'pending', now });
  if (!isPeoples) return;
  store.conversations.setResolution({ id: conversation.id, resolution: 'human', now });
  store.desk.takeFromAgent(conversation.id);
}

function threadOf(store: Store, { thread_id: id }: LeftAddressRow): Thread | undefined {
  const conversation = store.conversations.get(id ?? '');
  const ticket = conversation && store.tickets.byConversation(conversation.id);
  return conversation && ticket && { conversation, ticket };
}

/**
 * Belongs to the contact of the address, not to the visitor's: a contact who has an address is shown
 * that customer's other tickets, and whoever confirmed the address may be a stranger to the visitor.
 */
function newThread(
  store: Store,
  { id, shop, email }: LeftAddressRow,
  { subject, from }: Pick<MailOptions, 'subject' | 'from'>,
  now: string,
): Thread | undefined {
  if (from === undefined) return undefined;
  const { id: contactId } = store.contacts.resolve(shop, 'email', { email }, now);
  const agentId = store.shops.agentId(shop);
  const conversation = store.conversations.create({
    ...{ shop, type: 'email', title: subject, agentContact: from, agentId, contactId },
    ...{ userId: null, topicId: null, intentId: null, now },
  });
  // So that the answer by email joins the thread.
  store.conversations.addParticipants(conversation.id, [email]);
  const ticket = store.tickets.create({
    ...{ shop, contactId, conversationId: conversation.id, agentId },
    number: store.shops.nextTicketNumber(shop),
    ...{ name: subject, excerpt: '', messageId: null, spokenAt: now, now },
  });
  store.leftAddresses.setThread(conversation.id, id);
  return { conversation, ticket };
}
