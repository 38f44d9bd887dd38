import { randomUUID } from 'node:crypto';
import { DECISIONS } from '../decisions.ts';
import type { OutgoingReply } from '../outbound/outbound.ts';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { AgentAnswer, AgentContext } from './agent.ts';
import { domainOf, threadOf } from './threading.ts';

const HISTORY_MAX = 20;
const TEN_MINUTES_MS = 600_000;
const NO_REPLY = /^(?:no|do-?not)[-._]?reply|^mailer-daemon@|^postmaster@/i;

/**
 * Why this message gets no answer; undefined when it may get one. The API does not say whether a
 * message was sent by a machine, so a conversation that goes too fast is taken for a loop.
 */
export function silence(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  nowMs: number,
): 'escalated' | 'own_address' | 'no_reply_address' | 'too_fast' | undefined {
  if (conversation.resolution === 'escalated') return 'escalated';
  const email = contactOf(store, message)?.email;
  if (conversation.type === 'email' && email) {
    if (store.conversations.isAgentContact(message.shop, email)) return 'own_address';
    if (NO_REPLY.test(email)) return 'no_reply_address';
  }
  const since = new Date(nowMs - TEN_MINUTES_MS).toISOString();
  const recent = store.messages.repliesSince(conversation.id, since);
  return recent >= DECISIONS.agentRepliesPer10Min ? 'too_fast' : undefined;
}

export function contextOf(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  shopName: string,
): AgentContext {
  return {
    shopName,
    channel: conversation.type,
    contactName: contactOf(store, message)?.name ?? undefined,
    subject: conversation.title ?? undefined,
    text: message.text,
    history: store.messages.before(message, HISTORY_MAX).map(({ role, text }) => ({ role, text })),
  };
}

/**
 * Stores the answer as a PENDING message, and the question as answered, in one write. Undefined
 * when it has been answered already.
 */
export function storeReply(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  answer: AgentAnswer,
  nowMs: number,
): MessageRow | undefined {
  if (!store.messages.markAnswered(message.id)) return undefined;
  const now = new Date(nowMs).toISOString();
  const id = randomUUID();
  const text = conversation.type === 'sms' ? withoutMarkup(answer.text) : answer.text;
  const status = answer.escalate ? 'WaitingUser' : 'WaitingContact';
  store.tickets.spoken(message.ticket_id, status, text.slice(0, 200), now);
  store.conversations.setStatus(conversation.id, 'pending', now);
  if (answer.escalate) store.conversations.setResolution(conversation.id, 'escalated', now);
  const isEmail = conversation.type === 'email';
  return store.messages.create({
    id,
    shop: message.shop,
    conversationId: conversation.id,
    ticketId: message.ticket_id,
    contactId: message.contact_id,
    agentId: store.shops.agentId(message.shop),
    content: text,
    text,
    format: conversation.type === 'sms' ? 'TEXT' : 'MARKDOWN',
    role: 'agent',
    status: 'PENDING',
    // The customer's mail program answers to this id, and his answer is threaded by it.
    remoteId: isEmail ? `<${id}@${domainOf(conversation.agent_contact)}>` : null,
    email: null,
    createdAt: now,
    now,
    unanswered: false,
    inReplyTo: message.id,
  });
}

/** The stored reply, addressed. */
export function outgoing(
  store: Store,
  conversation: ConversationRow,
  reply: MessageRow,
  shopName: string,
): OutgoingReply {
  const contact = contactOf(store, reply);
  const question = store.messages.answeredBy(reply);
  const isEmail = conversation.type === 'email';
  return {
    id: reply.id,
    text: reply.text,
    from: conversation.agent_contact ?? undefined,
    fromName: shopName,
    to: (isEmail ? contact?.email : contact?.phone) ?? undefined,
    toName: contact?.name ?? undefined,
    at: new Date(reply.created_at),
    email:
      isEmail && question && reply.remote_id !== null
        ? threadOf(question, conversation, reply.remote_id)
        : undefined,
  };
}

function contactOf(store: Store, { shop, contact_id: id }: MessageRow) {
  return id === null ? undefined : store.contacts.byId(shop, id);
}

/** Markdown as a telephone shows it. */
function withoutMarkup(markdown: string): string {
  return markdown
    .replace(/\[([^\]\n]{1,200})\]\(([^)\s]{1,500})\)/g, '$1 ($2)')
    .replace(/[*_]{1,3}(\S[^*_\n]{0,200}\S|\S)[*_]{1,3}/g, '$1')
    .slice(0, 1000);
}
