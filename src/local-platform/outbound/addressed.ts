import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { OutgoingReply } from './outbound.ts';
import { threadOf } from './threading.ts';

/** The stored reply, addressed: from where the customer wrote to, to where he wrote from. */
export function addressed(
  store: Store,
  conversation: ConversationRow,
  reply: MessageRow,
  shopName: string,
): OutgoingReply {
  const contact =
    reply.contact_id === null ? undefined : store.contacts.byId(reply.shop, reply.contact_id);
  const question = store.messages.answeredBy(reply);
  const isEmail = conversation.type === 'email';
  return {
    id: reply.id,
    shop: reply.shop,
    content: reply.content,
    format: reply.format,
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
