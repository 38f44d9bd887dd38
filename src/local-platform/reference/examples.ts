import type { z } from 'zod';
import type {
  contactFields,
  conversationFields,
  mediaFields,
  messageFields,
  ticketFields,
} from '../../platform-api/resources.ts';
import type { CreateEventRequest, CreateMessageRequest } from '../../platform-api/schemas.ts';

/**
 * The example data of the whole document: Ann Lee writes an email about her order, with a picture of
 * the damaged box, and the agent answers.
 */
export const SHOP_ID = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11';
const AGENT_ID = '5f0f2f57-0d8e-4c42-9d60-54c1f4f8a7a1';
const CONTACT_ID = 'c4a8d7f2-3b19-4f0e-8a35-6f1f9f4b2c10';
const CONVERSATION_ID = '9a1f3e68-7c55-4d3b-9a0a-2a1b7c9e4d22';
const TICKET_ID = '1d7c2b90-52a4-4e7f-b1c6-8e0d3f5a6b33';
const MESSAGE_ID = '7e5b4a3c-2d1f-4098-8f7e-6d5c4b3a2f44';
const REPLY_ID = '3c2d1e0f-9a8b-4c7d-8e6f-5a4b3c2d1e55';
const MEDIA_ID = 'e8d7c6b5-a493-4281-9706-f5e4d3c2b166';

const ASKED_AT = '2026-04-21T09:30:00.000Z';
const ANSWERED_AT = '2026-04-21T09:30:02.410Z';

export const ticket: z.input<typeof ticketFields> = {
  id: TICKET_ID,
  number: 1042,
  name: 'Where is my order 1001?',
  status: 'WaitingContact',
  priority: 0,
  summary: 'Order 1001 has not arrived; the customer asks where it is.',
  agent_id: AGENT_ID,
  assignee_id: null,
  contact_id: CONTACT_ID,
  conversation_id: CONVERSATION_ID,
  message_id: MESSAGE_ID,
  label_id: null,
  sublabel_id: null,
  completed_at: null,
  last_message_at: ANSWERED_AT,
  last_message_content: 'Hello Ann, parcels take two to four working days.',
  is_test: false,
  remote_id: null,
  remote_platform: null,
  created_at: ASKED_AT,
  updated_at: ANSWERED_AT,
};

export const message: z.input<typeof messageFields> = {
  id: MESSAGE_ID,
  conversation_id: CONVERSATION_ID,
  ticket_id: TICKET_ID,
  contact_id: CONTACT_ID,
  agent_id: null,
  user_id: null,
  content: 'Hello, my order 1001 has not arrived yet.',
  text: 'Hello, my order 1001 has not arrived yet.',
  format: 'TEXT',
  role: 'customer',
  status: 'DELIVERED',
  type: 'External',
  remote_id: '<f81d4fae@mail.example>',
  remote_platform: null,
  created_at: ASKED_AT,
  updated_at: ASKED_AT,
};

export const reply: z.input<typeof messageFields> = {
  ...message,
  id: REPLY_ID,
  agent_id: AGENT_ID,
  content: 'Hello Ann, parcels take two to four working days.',
  text: 'Hello Ann, parcels take two to four working days.',
  role: 'agent',
  remote_id: '<3c2d1e0f@acme.example>',
  created_at: ANSWERED_AT,
  updated_at: ANSWERED_AT,
};

export const conversation: z.input<typeof conversationFields> = {
  id: CONVERSATION_ID,
  type: 'email',
  direction: 'inbound',
  status: 'pending',
  title: 'Where is my order 1001?',
  agent_id: AGENT_ID,
  contact_id: CONTACT_ID,
  user_id: null,
  is_test: false,
  remote_id: null,
  remote_platform: null,
  created_at: ASKED_AT,
  updated_at: ANSWERED_AT,
};

export const contact: z.input<typeof contactFields> = {
  id: CONTACT_ID,
  name: 'Ann Lee',
  display_name: 'Ann Lee',
  email: 'ann@customer.example',
  phone: null,
  parent_contact_id: null,
  is_archived: false,
  is_test: false,
  last_activity_at: ASKED_AT,
  remote_id: null,
  remote_platform: null,
  created_at: ASKED_AT,
  updated_at: ASKED_AT,
};

/** @param baseUrl of the link */
export const media = (baseUrl: string): z.input<typeof mediaFields> => ({
  id: MEDIA_ID,
  type: 'image/jpeg',
  url: `${baseUrl}/media-files/${MEDIA_ID}?expires=1776767400000&signature=x1Hq0tP3`,
  original_name: 'damaged box.jpg',
  permission: 'private',
  created_at: ASKED_AT,
});

export const createEmail: CreateMessageRequest = {
  contact: { email: 'ann@customer.example', name: 'Ann Lee' },
  conversation: { direction: 'inbound', type: 'email', agent_contact: 'support@acme.example' },
  message: {
    content: 'Hello, my order 1001 has not arrived yet.',
    format: 'TEXT',
    remote_id: '<f81d4fae@mail.example>',
    timestamp: '2026-04-21T09:30:00Z',
    email: { subject: 'Where is my order 1001?' },
  },
};

export const createSms: CreateMessageRequest = {
  contact: { phone: '+15550002222' },
  conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
  message: { content: 'Are you open on Sunday?', remote_id: 'SM5ef8732a3c49700934481addd5ce1659' },
};

export const appendChat: CreateMessageRequest = {
  contact: {},
  conversation: { direction: 'inbound', id: CONVERSATION_ID },
  message: { content: 'And can I return it?', remote_id: 'chat-17' },
};

export const createEvent: CreateEventRequest = {
  name: 'Order shipped',
  description: 'Order 1001 left the warehouse.',
  event_time: '2026-04-21T15:00:00Z',
  contact: { email: 'ann@customer.example' },
  metric: {
    metric_name: 'orders_shipped',
    value: 1,
    deduping_key: 'order-1001',
    additional_properties: { carrier: 'post' },
  },
};

export const eventContact = { contact: { id: CONTACT_ID, email: 'ann@customer.example' } };

/** Example filters, by list. */
export const queries = {
  tickets: { created_at__range: 'relative:-7d,', priority__in: '0,1', limit: '20' },
  count: { created_at__range: 'relative:-7d,' },
  messages: { conversation_id: CONVERSATION_ID },
  contacts: { email: 'ann@customer.example' },
} as const;
