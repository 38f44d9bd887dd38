import type {
  ReadableMessage,
  StoredContact,
  StoredConversation,
  StoredMedia,
} from './platform-store.ts';
import type { PlatformTraits } from './platform-traits.ts';

/** §2.2; without `keepsRemoteId` the remote_id is null. */
export function messageResource(
  message: ReadableMessage,
  { keepsRemoteId }: Pick<PlatformTraits, 'keepsRemoteId'>,
): Record<string, unknown> {
  return {
    id: message.id,
    conversation_id: message.conversationId,
    ticket_id: message.ticketId,
    contact_id: message.contactId,
    agent_id: message.agentId,
    user_id: null,
    content: message.content,
    text: message.content,
    format: message.format,
    role: message.role,
    // The delivery status of outbound messages.
    ...(message.role === 'agent' ? { status: 'DELIVERED' } : {}),
    type: 'External',
    remote_id: keepsRemoteId ? message.remoteId : null,
    remote_platform: null,
    created_at: iso(message.at),
    updated_at: iso(message.at),
  };
}

/** §2.3 */
export function conversationResource(conversation: StoredConversation): Record<string, unknown> {
  const { id, type, contactId, at, messages } = conversation;
  return {
    id,
    type,
    direction: 'inbound',
    status: 'open',
    agent_id: null,
    contact_id: contactId,
    user_id: null,
    is_test: false,
    remote_id: null,
    remote_platform: null,
    created_at: iso(at),
    updated_at: iso(messages.at(-1)?.at ?? at),
  };
}

/** §2.1 */
export function ticketResource(conversation: StoredConversation): Record<string, unknown> {
  const { id, seq, ticketId, contactId, at, messages } = conversation;
  const last = messages.at(-1);
  return {
    id: ticketId,
    number: seq + 1,
    name: `Ticket ${seq + 1}`,
    status: 'Open',
    priority: 0,
    agent_id: null,
    assignee_id: null,
    contact_id: contactId,
    conversation_id: id,
    message_id: messages[0]?.id ?? null,
    label_id: null,
    sublabel_id: null,
    completed_at: null,
    last_message_at: last === undefined ? null : iso(last.at),
    last_message_content: last?.content ?? '',
    is_test: false,
    remote_id: null,
    remote_platform: null,
    created_at: iso(at),
    updated_at: iso(last?.at ?? at),
  };
}

/** §2.4 */
export function contactResource(contact: StoredContact): Record<string, unknown> {
  const { id, at, email, phone, name, remoteId } = contact;
  return {
    id,
    ...(name === null ? {} : { name, display_name: name }),
    email,
    phone,
    parent_contact_id: null,
    is_archived: false,
    is_test: false,
    last_activity_at: null,
    remote_id: remoteId,
    remote_platform: null,
    created_at: iso(at),
    updated_at: iso(at),
  };
}

/** §2.5 */
export function mediaResource(media: StoredMedia): Record<string, unknown> {
  const { id, type, name, permission, at } = media;
  const url = `https://media.example/${id}`;
  return { id, type, url, original_name: name, permission, created_at: iso(at) };
}

const iso = (at: number): string => new Date(at).toISOString();
