import { randomUUID } from 'node:crypto';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { ApiError } from './api-error.ts';
import { DECISIONS } from './decisions.ts';
import { plainText } from './plain-text.ts';
import type { ConversationRow, MessageRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

export interface Created {
  readonly message: MessageRow;
  /** False when it is the message that was there already. */
  readonly created: boolean;
}

/**
 * Create message (API §4.7): the contact, the conversation, the ticket and the message, or the
 * message that came first with the same `remote_id`. Runs inside of one write.
 * @throws {ApiError} 400, 404
 */
export function createMessage(
  store: Store,
  shop: string,
  request: CreateMessageRequest,
  now: string,
  agentListens: boolean,
): Created {
  const { message } = request;
  const remoteId = message.remote_id ?? null;
  const first = remoteId === null ? undefined : store.messages.byDedupKey(shop, remoteId);
  if (first !== undefined) return { message: first, created: false };

  const known = findConversation(store, shop, request);
  assertAttachments(store, shop, message.attachments ?? []);
  const contact = store.contacts.resolve(
    shop,
    request.contact,
    now,
    known?.contact_id ?? undefined,
  );
  const subject = message.email?.subject?.trim() ?? '';
  const conversation =
    known ?? startConversation(store, shop, request, { contactId: contact.id, subject, now });

  const text = plainText(message.content, message.format ?? 'TEXT');
  const id = randomUUID();
  const excerpt = text.slice(0, 200);
  const ticket =
    store.tickets.byConversation(conversation.id) ??
    store.tickets.create({
      shop,
      number: store.shops.nextTicketNumber(shop),
      name: titleOf(subject, text),
      summary: excerpt,
      agentId: store.shops.agentId(shop),
      contactId: contact.id,
      conversationId: conversation.id,
      messageId: id,
      now,
    });
  if (ticket.message_id !== id) store.tickets.spoken(ticket.id, 'Open', excerpt, now);
  if (known !== undefined) store.conversations.setStatus(known.id, 'open', now);

  const stored = store.messages.create(
    {
      id,
      shop,
      conversationId: conversation.id,
      ticketId: ticket.id,
      contactId: contact.id,
      agentId: null,
      content: message.content,
      text,
      format: message.format ?? 'TEXT',
      role: 'customer',
      status: 'DELIVERED',
      remoteId,
      email: message.email ? JSON.stringify(message.email) : null,
      createdAt: message.timestamp ? new Date(message.timestamp).toISOString() : now,
      now,
      unanswered: agentListens,
      inReplyTo: null,
    },
    message.attachments,
  );
  return { message: stored, created: true };
}

/** By id; for email by In-Reply-To, then References from the last to the first (RFC 5322 §3.6.4). */
function findConversation(
  store: Store,
  shop: string,
  { conversation, message }: CreateMessageRequest,
): ConversationRow | undefined {
  if (conversation.id) {
    const found = store.conversations.byId(shop, conversation.id.toLowerCase());
    if (found !== undefined) return found;
    throw new ApiError(404, 'there is no such conversation', { 'conversation.id': 'not found' });
  }
  if (conversation.type === undefined) {
    throw new ApiError(400, 'the request is not valid', {
      'conversation.type': 'required when conversation.id is absent',
    });
  }
  if (conversation.type !== 'email' || message.email === undefined) return undefined;
  const { in_reply_to: inReplyTo, references = [] } = message.email;
  const latestFirst = references.slice(-DECISIONS.referencesMax).reverse();
  return store.conversations.byMessageIds(
    shop,
    inReplyTo === undefined ? latestFirst : [inReplyTo, ...latestFirst],
  );
}

function startConversation(
  store: Store,
  shop: string,
  { conversation }: CreateMessageRequest,
  { contactId, subject, now }: { contactId: string; subject: string; now: string },
): ConversationRow {
  return store.conversations.create({
    shop,
    type: conversation.type ?? 'email',
    title: subject === '' ? null : subject,
    agentContact: conversation.agent_contact ?? null,
    agentId: store.shops.agentId(shop),
    contactId,
    userId: conversation.user_id ?? null,
    now,
  });
}

function assertAttachments(store: Store, shop: string, ids: readonly string[]): void {
  const field = 'message.attachments';
  if (ids.length > DECISIONS.attachmentsMax) {
    throw new ApiError(400, 'the request is not valid', {
      [field]: `at most ${DECISIONS.attachmentsMax}`,
    });
  }
  const missing = ids.findIndex((id) => store.media.byId(shop, id) === undefined);
  if (missing < 0) return;
  throw new ApiError(400, 'the request is not valid', { [`${field}.${missing}`]: 'no such media' });
}

function titleOf(subject: string, text: string): string {
  const line = subject === '' ? (text.trim().split('\n', 1)[0] ?? '') : subject;
  return line.slice(0, 120) || '(no text)';
}
