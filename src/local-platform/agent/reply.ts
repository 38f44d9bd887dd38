import { randomUUID } from 'node:crypto';
import { excerptOf, plainText } from '../plain-text.ts';
import { remoteIdOf, titleFor } from '../outbound/address-reply.ts';
import type { ConversationRow, MessageRow, TicketRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { AgentAnswer, AgentContext, TicketSummary } from './agent.ts';
import type { Addressee } from './answer-budgets.ts';
import { wordsTo } from './emoji.ts';

const HISTORY_MAX = 20;

/**
 * What the agent knows when it answers a message. If the sender is confirmed, it has nothing that only
 * messages of unconfirmed senders say: it would come back in the shop's name.
 */
export function contextOf(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  { shopName, addressee }: { readonly shopName: string; readonly addressee: Addressee },
): AgentContext {
  const { isNeutral } = addressee;
  return {
    shopName,
    channel: conversation.type,
    isUnverified: isNeutral,
    contactName: nameFor(store, conversation, message, isNeutral),
    subject: titleFor(store, conversation, message) ?? undefined,
    text: wordsTo(store, message) ?? message.text,
    attachments: store.media.ofMessage(message.id).length,
    history: store.messages.historyBefore(
      message,
      HISTORY_MAX,
      conversation.type === 'email' && message.unverified_from === null ? UNCONFIRMED : undefined,
    ),
    tickets: (limit) => ticketsOf(store, message, limit),
  };
}

/** In the place of what an unconfirmed sender has written. */
const UNCONFIRMED = '(…)';

/** A stranger's words must not go to somebody else, nor a customer's name to a visitor who types their address. */
function nameFor(
  store: Store,
  { type }: ConversationRow,
  message: MessageRow,
  isNeutral: boolean,
): string | undefined {
  const contact = isNeutral ? undefined : store.contacts.ofMessage(message);
  const isHidden =
    message.unverified_from === null
      ? contact?.is_name_claimed === 1
      : type === 'web_chat' && (contact?.email ?? contact?.phone ?? null) !== null;
  return isHidden ? undefined : (contact?.name ?? undefined);
}

/**
 * The tickets of the message's author, in the shop that the message was sent to: only the current one
 * unless it is confirmed who they are.
 */
function ticketsOf(store: Store, message: MessageRow, limit: number): TicketSummary[] {
  const { contact_id: id, ticket_id: current, shop, unverified_from: network } = message;
  if (id === null) return [];
  const isUnconfirmed = ({ message_id: first }: TicketRow) =>
    (store.messages.get(first ?? '')?.unverified_from ?? null) !== null;
  return store.tickets
    .byContact(id, shop, limit)
    .filter((ticket) => network === null || ticket.id === current)
    .map((ticket) => ({
      number: ticket.number,
      name: network === null && isUnconfirmed(ticket) ? UNCONFIRMED : ticket.name,
      status: ticket.status,
      createdAt: ticket.created_at,
      lastMessageAt: ticket.last_message_at ?? undefined,
      isCurrent: ticket.id === current,
    }));
}

/**
 * Stores the answer as a PENDING message and marks the customer's message as answered, in one write.
 * The ticket and the conversation stay open while later messages of the customer are unanswered.
 * @returns undefined when the message has been answered already
 */
export function storeReply(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  answer: AgentAnswer,
  { person, network, isNeutral, from }: Addressee,
  nowMs: number,
): MessageRow | undefined {
  if (!store.messages.markAnswered(message.id)) return undefined;
  const now = new Date(nowMs).toISOString();
  const id = randomUUID();
  const content = answer.text;
  const format = conversation.type === 'sms' ? 'TEXT' : 'MARKDOWN';
  const text = plainText(content, format);
  const hasUnanswered = store.messages.hasLaterUnanswered(message);
  const status = answer.escalate ? 'WaitingUser' : hasUnanswered ? 'Open' : 'WaitingContact';
  store.tickets.recordMessage(message.ticket_id, status, excerptOf(text), now);
  if (answer.summary) store.tickets.summarize(answer.summary, message.ticket_id);
  const at = { id: conversation.id, now };
  if (!hasUnanswered) store.conversations.setStatus({ ...at, status: 'pending' });
  // Whoever forges a customer's address must not end the agent's answers to them.
  const hasConfirmedCustomer = isNeutral && store.messages.hasConfirmed(conversation.id);
  if (answer.escalate && !hasConfirmedCustomer) {
    store.conversations.setResolution({ ...at, resolution: 'escalated' });
  }
  const reply = store.messages.create({
    id,
    shop: message.shop,
    conversationId: conversation.id,
    ticketId: message.ticket_id,
    contactId: message.contact_id,
    agentId: store.shops.agentId(message.shop),
    content,
    text,
    format,
    role: 'agent',
    status: 'PENDING',
    remoteId: remoteIdOf(id, conversation, message),
    email: null,
    createdAt: now,
    now,
    unanswered: false,
    inReplyTo: message.id,
    sender: null,
    agentContact: from ?? null,
    unverifiedFrom: network ?? null,
    person,
  });
  store.outgoing.add(reply, nowMs);
  return reply;
}
