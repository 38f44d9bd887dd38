import { randomUUID } from 'node:crypto';
import { hasWords } from '../domain/no-text.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { addressesOf } from './addresses.ts';
import {
  assertAttachments,
  type Created,
  findConversation,
  startConversation,
  updateTicket,
} from './create-message.ts';
import { plainText } from './plain-text.ts';
import type { ConversationRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

/** Nobody reads and answers faster. */
const AUTOMATIC_WITHIN_MS = 10_000;
/** The same words to so many customers in a day are a greeting of the app. */
const AUTOMATIC_CONVERSATIONS = 3;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Stores what the shop has written to a customer on its own phone, as a note on the conversation. If a
 * person wrote it, the customer's turn has come and the agent is silent for a while (`isEchoed`); an
 * automatic text of the app changes nothing. The same echo, by its `remote_id`, is one note. It is no
 * message of the customer, so it never opens the 24 hours of WhatsApp. Must run within a write.
 * @param now ISO 8601
 * @throws {ApiError} 400, 404
 */
export function createEcho(
  store: Store,
  shop: string,
  request: CreateMessageRequest,
  now: string,
): Created {
  const { message } = request;
  const remoteId = message.remote_id ?? null;
  const first = remoteId === null ? undefined : store.messages.reply(shop, remoteId);
  if (first !== undefined) return { message: first, created: false };
  const text = plainText(message.content, message.format ?? 'TEXT');
  const at = new Date(message.timestamp ?? now).toISOString();
  const conversation =
    findConversation(store, shop, request) ?? begun(store, shop, request, { text, at, now });
  const ticket = store.tickets.byConversation(conversation.id);
  if (ticket === undefined) throw new Error('a conversation without a ticket');
  const question = store.messages.lastOfCustomer(conversation.id);
  const note = store.messages.create(
    {
      ...{ id: randomUUID(), shop, conversationId: conversation.id, ticketId: ticket.id },
      ...{ contactId: question?.contact_id ?? ticket.contact_id, agentId: null, isInternal: true },
      ...{ content: message.content, text, format: message.format ?? 'TEXT', role: 'agent' },
      ...{ status: 'DELIVERED', remoteId, email: null, createdAt: at, now, unanswered: false },
      // So that it is erased with what it answers.
      inReplyTo: question?.id ?? null,
      ...{ sender: null, agentContact: null },
    },
    assertAttachments(store, shop, message.attachments ?? []),
  );
  if (!isAutomatic(store, conversation, text, at)) {
    store.conversations.setEchoed({ id: conversation.id, at });
    if (ticket.completed_at === null)
      store.tickets.setTurn(note, 'WaitingContact', Date.parse(now));
  }
  return { message: note, created: true };
}

/** A conversation that the shop begins: its ticket waits for the customer. */
function begun(
  store: Store,
  shop: string,
  request: CreateMessageRequest,
  { text, at, now }: { readonly text: string; readonly at: string; readonly now: string },
): ConversationRow {
  const type = request.conversation.type ?? 'sms';
  const contact = store.contacts.resolve(shop, type, { ...request.contact, isClaimed: false }, now);
  const { agentContact } = addressesOf(type, request);
  const conversation = startConversation(
    store,
    shop,
    request,
    { type, agentContact, contact },
    now,
  );
  updateTicket(store, conversation, {
    ...{ messageId: null, contactId: contact.id, subject: '', text, spokenAt: at, now },
  });
  return conversation;
}

function isAutomatic(
  store: Store,
  { id, shop }: ConversationRow,
  text: string,
  at: string,
): boolean {
  const before = (ms: number): string => new Date(Date.parse(at) - ms).toISOString();
  if (store.messages.hasCustomerWritten(id, before(AUTOMATIC_WITHIN_MS), at)) return true;
  if (!hasWords(text)) return false;
  return store.messages.countEchoed(shop, before(DAY_MS), text) >= AUTOMATIC_CONVERSATIONS;
}
