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
 * joins a conversation only when its sender takes part there, has written or was named in Cc or
 * Bcc; else the agent would tell a stranger who quotes an id what others wrote.
 * @throws {ApiError} 404 for an id that the shop does not have, 400 without id and type
 */
export function findConversation(
  store: Store,
  shop: string,
  { contact, conversation, message }: CreateMessageRequest,
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
  const sender = store.contacts.find(shop, contact);
  const takesPart = ({ id, contact_id: owner }: ConversationRow) =>
    sender?.id === owner || store.conversations.hasParticipant(id, contact.email ?? '');
  for (const id of new Set([inReplyTo ?? '', ...latestFirst].flatMap(waysToWrite))) {
    const found = store.conversations.byMessageId(shop, id);
    if (found !== undefined && takesPart(found)) return found;
  }
  return undefined;
}

/** Clients differ in whether the angle brackets belong to a message-id. */
function waysToWrite(text: string): string[] {
  const id = text.trim();
  if (id === '') return [];
  return [id, /^<.*>$/.test(id) ? id.slice(1, -1) : `<${id}>`];
}
