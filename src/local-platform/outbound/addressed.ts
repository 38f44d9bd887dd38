import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { OutgoingReply } from './outbound.ts';
import { threadOf } from './threading.ts';

/**
 * The address or number that a customer's message came from: his contact may have another one, or
 * be shared. Of a message that does not say, his contact's.
 */
export function senderOf(
  store: Store,
  { type }: ConversationRow,
  message: MessageRow,
): string | undefined {
  if (message.sender !== null) return message.sender;
  if (type === 'web_chat') return undefined;
  const contact = contactOf(store, message);
  return (type === 'email' ? contact?.email : contact?.phone) ?? undefined;
}

function contactOf(store: Store, { shop, contact_id: id }: MessageRow) {
  return id === null ? undefined : store.contacts.byId(shop, id);
}

/** The stored reply, addressed: from where the customer wrote to, to where he wrote from. */
export function addressed(
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
    shop: reply.shop,
    content: reply.content,
    format: reply.format,
    from: question?.agent_contact ?? conversation.agent_contact ?? undefined,
    fromName: shopName,
    to: senderOf(store, conversation, question ?? reply),
    toName: contact?.name ?? undefined,
    at: new Date(reply.created_at),
    email:
      isEmail && question && reply.remote_id !== null
        ? threadOf(question, conversation, reply.remote_id)
        : undefined,
  };
}
