import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import { ApiError } from './api-error.ts';
import { DECISIONS } from './decisions.ts';
import type { ConversationRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

/**
 * The conversation that a message belongs to, or undefined for a new one: by id (API §4.7 rule 1),
 * and for email by In-Reply-To, then References from the last to the first (rule 3,
 * RFC 5322 §3.6.4).
 *
 * Message-ids are no secret: they are in every forwarded mail and every list's archive. So an email
 * joins a conversation only when the address that it came from takes part there, has written or was
 * named in Cc or Bcc; else the agent would tell a stranger who quotes an id what others wrote.
 * @throws {ApiError} 404 for an id that the shop does not have, 400 without id and type
 */
export function findConversation(
  store: Store,
  shop: string,
  { contact, conversation, message }: CreateMessageRequest,
): ConversationRow | undefined {
  if (conversation.id) {
    const found = store.conversations.byId(shop, conversation.id);
    if (found !== undefined) return found;
    throw new ApiError(404, 'there is no such conversation', { 'conversation.id': 'not found' });
  }
  if (conversation.type === undefined) {
    throw new ApiError(400, 'the request is not valid', {
      'conversation.type': 'required when conversation.id is absent',
    });
  }
  if (conversation.type !== 'email' || message.email === undefined) return undefined;
  for (const id of idsReferredTo(message)) {
    const found = store.conversations.byMessageId(shop, id);
    if (found && store.conversations.hasParticipant(found.id, contact.email ?? '')) return found;
  }
  return undefined;
}

/**
 * Whether an email refers to a reply of this conversation: whoever wrote it has had that reply. The
 * ids of customers' own messages are known to others too.
 */
export function refersToReply(
  store: Store,
  { shop, id }: ConversationRow,
  message: CreateMessageRequest['message'],
): boolean {
  return idsReferredTo(message).some((known) => store.messages.isReply(shop, known, id));
}

/** In-Reply-To, then References from the last to the first, each id once in each way to write it. */
function idsReferredTo({ email }: CreateMessageRequest['message']): string[] {
  const latestFirst = (email?.references ?? []).slice(-DECISIONS.referencesMax).reverse();
  return [...new Set([email?.in_reply_to ?? '', ...latestFirst].flatMap(waysToWrite))];
}

/** Clients differ in whether the angle brackets belong to a message-id. */
function waysToWrite(text: string): string[] {
  const id = text.trim();
  if (id === '') return [];
  return [id, /^<.*>$/.test(id) ? id.slice(1, -1) : `<${id}>`];
}
