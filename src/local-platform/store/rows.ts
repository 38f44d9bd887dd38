import { choicesOf } from '../agent/sentences.ts';
import { z } from 'zod';
import type { Contact, Conversation, Message, Ticket } from '../../platform-api/resources.ts';

/** The rows of the tables, and their conversion to the resources of the API. */

export type Channel = 'email' | 'sms' | 'web_chat';

export interface ContactRow {
  seq: number;
  id: string;
  shop: string;
  name: string | null;
  /** 1: only messages whose sender nothing confirms have given the name. */
  is_name_claimed: number;
  email: string | null;
  phone: string | null;
  remote_id: string | null;
  remote_platform: string | null;
  parent_contact_id: string | null;
  is_archived: number;
  last_activity_at: string | null;
  created_at: string;
  updated_at: string;
  /** A key of `contact_facets`; null in the result of an insert. */
  facet: number | null;
}

export interface ConversationRow {
  seq: number;
  id: string;
  shop: string;
  type: Channel;
  direction: string;
  status: string;
  resolution: string | null;
  title: string | null;
  agent_contact: string | null;
  agent_id: string | null;
  contact_id: string | null;
  user_id: string | null;
  topic_id: string | null;
  intent_id: string | null;
  created_at: string;
  updated_at: string;
  /** When a person of the shop last wrote to the customer on their own phone. */
  echoed_at: string | null;
}

export interface TicketRow {
  seq: number;
  id: string;
  shop: string;
  number: number;
  name: string;
  status: string;
  priority: number;
  summary: string | null;
  agent_id: string | null;
  assignee_id: string | null;
  contact_id: string | null;
  conversation_id: string | null;
  message_id: string | null;
  label_id: string | null;
  sublabel_id: string | null;
  completed_at: string | null;
  last_message_at: string | null;
  last_message_content: string | null;
  created_at: string;
  updated_at: string;
  /** Since when the customer waits for an answer; null while it is their turn or it is completed. */
  waits_since: string | null;
  /** A key of `ticket_facets`; null in the result of an insert. */
  facet: number | null;
}

export interface MessageRow {
  seq: number;
  id: string;
  shop: string;
  conversation_id: string;
  ticket_id: string;
  contact_id: string | null;
  agent_id: string | null;
  user_id: string | null;
  content: string;
  text: string;
  format: string;
  role: 'customer' | 'agent';
  status: string;
  type: string;
  remote_id: string | null;
  /** `message.email` as JSON. */
  email: string | null;
  created_at: string;
  updated_at: string;
  unanswered: number;
  /** For a reply: the id of the message that it answers. */
  in_reply_to: string | null;
  /** For a customer's message: the address or number that it came from. */
  sender: string | null;
  /** For a customer's message: the shop's address or number that it was sent to. */
  agent_contact: string | null;
  /** `NewMessage.unverifiedFrom` */
  unverified_from: string | null;
  /** For a reply: `personOf` whom it answers. */
  person: string | null;
  /** For a customer's message: the limit at which the agent left it to people, or `LIFTED`. */
  limit_reached: string | null;
}

/** `limit_reached` once a person has let the agent answer: the limits no longer apply. */
export const LIFTED = 'lifted';

/**
 * Who wrote a message, whatever the conversation: in the chat the visitor, who has a new contact in each
 * one, else the contact.
 */
export function personOf(
  { id, type }: Pick<ConversationRow, 'id' | 'type'>,
  { contact_id: contactId, remote_id: remoteId }: Pick<MessageRow, 'contact_id' | 'remote_id'>,
): string {
  const visitor = type === 'web_chat' ? visitorIn(remoteId ?? '') : undefined;
  return visitor === undefined ? `${type}:${contactId ?? id}` : `visitor:${visitor}`;
}

/** The visitor in the remote id, or in its beginning, of a message that the gateway has posted. */
export const visitorIn = (remoteId: string): string | undefined =>
  /^chat:([^:]+):/.exec(remoteId)?.[1];

/**
 * Whether people answer the conversation: the agent has escalated it, or a person has taken or
 * answered it. The agent is silent in it until it is completed or handed back.
 */
export const isWithPeople = ({ resolution }: Pick<ConversationRow, 'resolution'>): boolean =>
  resolution === 'escalated' || resolution === 'human';

const emailSchema = z.object({
  subject: z.string().optional(),
  in_reply_to: z.string().optional(),
  references: z.array(z.string()).optional(),
});

/** `message.email` of a stored message; empty for a message of another channel. */
export const emailOf = ({ email }: MessageRow): z.output<typeof emailSchema> =>
  email === null ? {} : emailSchema.parse(JSON.parse(email));

export interface MediaRow {
  seq: number;
  id: string;
  shop: string;
  type: string;
  original_name: string;
  permission: string;
  size: number;
  created_at: string;
}

/** API §2.4 */
export function toContact(row: ContactRow): Contact {
  const { seq, shop, facet, name, is_archived, is_name_claimed, ...fields } = row;
  const shown = name ?? row.email ?? row.phone;
  return {
    ...fields,
    ...(name !== null && { name }),
    ...(shown !== null && { display_name: shown }),
    is_archived: is_archived === 1,
    is_test: false,
  };
}

/** API §2.3 */
export function toConversation(row: ConversationRow): Conversation {
  const { seq, shop, agent_contact, topic_id, intent_id, echoed_at, ...more } = row;
  const { resolution, title, ...fields } = more;
  return {
    ...fields,
    ...(resolution !== null && { resolution }),
    ...(title !== null && { title }),
    is_test: false,
    remote_id: null,
    remote_platform: null,
  };
}

/** API §2.1 */
export function toTicket(row: TicketRow): Ticket {
  const { seq, shop, facet, waits_since, summary, last_message_content, ...fields } = row;
  return {
    ...fields,
    ...(summary !== null && { summary }),
    ...(last_message_content !== null && { last_message_content }),
    is_test: false,
    remote_id: null,
    remote_platform: null,
  };
}

/** API §2.2 */
export function toMessage(row: MessageRow): Message {
  const { seq, shop, email, unanswered, in_reply_to, sender, ...more } = row;
  const { agent_contact, unverified_from, person, limit_reached, ...fields } = more;
  const { role, user_id: userId, content } = fields;
  const choices = role === 'agent' && userId === null ? choicesOf(content) : undefined;
  return { ...fields, remote_platform: null, ...(choices && { choices }) };
}
