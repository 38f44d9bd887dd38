import { randomUUID } from 'node:crypto';
import { excerptOf, plainText } from '../plain-text.ts';
import { remoteIdOf } from '../outbound/address-reply.ts';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { AgentAnswer, AgentContext, TicketSummary } from './agent.ts';
import type { Addressee } from './answer-budgets.ts';

const HISTORY_MAX = 20;

export function contextOf(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  { shopName, addressee }: { readonly shopName: string; readonly addressee: Addressee },
): AgentContext {
  const isUnverified = conversation.type === 'email' && addressee.network !== undefined;
  const { name } = (isUnverified ? undefined : store.contacts.ofMessage(message)) ?? {};
  return {
    shopName,
    channel: conversation.type,
    // A stranger's words must not go to somebody else in the shop's name.
    contactName: name ?? undefined,
    subject: conversation.title ?? undefined,
    text: message.text,
    attachments: store.messages.attachments(message.id).length,
    history: store.messages.historyBefore(message, HISTORY_MAX),
    tickets: (limit) => ticketsOf(store, message, limit),
  };
}

/** The tickets of the message's author, in the shop that the message was sent to. */
function ticketsOf(store: Store, message: MessageRow, limit: number): TicketSummary[] {
  if (message.contact_id === null) return [];
  return store.tickets.byContact(message.contact_id, message.shop, limit).map((ticket) => ({
    number: ticket.number,
    name: ticket.name,
    status: ticket.status,
    createdAt: ticket.created_at,
    lastMessageAt: ticket.last_message_at ?? undefined,
    isCurrent: ticket.id === message.ticket_id,
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
  { person, network }: Addressee,
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
  if (answer.escalate) store.conversations.setResolution({ ...at, resolution: 'escalated' });
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
    agentContact: null,
    unverifiedFrom: network ?? null,
    person,
  });
  store.outgoing.add(reply, nowMs);
  return reply;
}
