import { z } from 'zod';
import { MEDIA_PERMISSIONS } from './resources.ts';

/**
 * The requests of the platform's REST API, version 2026-04 (§4): bodies and list filters. The
 * local platform validates with these schemas; the types are what channels build and the client
 * sends. Unknown fields are ignored.
 */

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

const uuid = z.guid();
/**
 * Deliberately wide. Real customers have addresses that no strict pattern takes
 * (`user.@docomo.ne.jp`, an internationalized or a quoted local part, RFC 5321 §4.1.2), and a
 * refused address is a lost message.
 */
const email = z
  .string()
  .max(320)
  .regex(
    /^(?:"[^"\\<>\p{Cc}]+"|[^\s@<>"](?:[^\s<>]*[^\s<>"])?)@[^\s@<>]+$/u,
    'expected an email address',
  );
const dateTime = z.iso.datetime({ offset: true });
const mailbox = z.object({ email, name: z.string().optional() });

/** API §4.7, the `contact` object. */
const messageContact = z.object({
  email: email.nullish(),
  name: z.string().optional(),
  phone: z.string().max(64).nullish(),
});

/** API §4.7, the `conversation` object. */
const messageConversation = z
  .object({
    direction: z.literal('inbound'),
    type: z.enum(['email', 'sms', 'web_chat']).optional(),
    id: uuid.nullish(),
    agent_contact: z.string().max(320).nullish(),
    intent_id: uuid.nullish(),
    topic_id: uuid.nullish(),
    user_id: uuid.nullish(),
  })
  .superRefine((conversation, context) => {
    const needed = conversation.type === 'email' || conversation.type === 'sms';
    if (needed && !conversation.agent_contact) {
      context.addIssue({
        code: 'custom',
        path: ['agent_contact'],
        message: `required for conversations of type ${conversation.type}`,
      });
    }
  });

/** API §4.7, the `message.email` object. */
const messageEmail = z.object({
  subject: z.string().optional(),
  in_reply_to: z.string().optional(),
  references: z.array(z.string()).optional(),
  cc: z.array(mailbox).optional(),
  bcc: z.array(mailbox).optional(),
});

/** API §4.7, the `message` object. */
const messageBody = z.object({
  content: z.string(),
  format: z.enum(['TEXT', 'MARKDOWN', 'HTML']).optional(),
  attachments: z.array(uuid).optional(),
  remote_id: z.string().nullish(),
  timestamp: dateTime.nullish(),
  email: messageEmail.optional(),
});

/** API §4.7 */
export const createMessageRequestSchema = z.object({
  contact: messageContact,
  conversation: messageConversation,
  message: messageBody,
});
export type CreateMessageRequest = DeepReadonly<z.output<typeof createMessageRequestSchema>>;

/** API §4.1, the `metric` object. */
const eventMetric = z.object({
  metric_name: z.string().optional(),
  value: z.number().optional(),
  deduping_key: z.string().optional(),
  metric_object_type: z.string().optional(),
  metric_object_id: uuid.optional(),
  context_object_type: z.string().optional(),
  context_object_id: uuid.optional(),
  additional_properties: z.record(z.string(), z.string()).optional(),
});

/** API §4.1: at least one of contact or metric. */
export const createEventRequestSchema = z
  .object({
    name: z.string().min(1),
    description: z.string().optional(),
    event_time: dateTime.optional(),
    contact: z
      .object({
        email: email.optional(),
        name: z.string().optional(),
        phone: z.string().max(64).optional(),
        remote_id: z.string().optional(),
      })
      .optional(),
    metric: eventMetric.optional(),
  })
  .superRefine((event, context) => {
    if (event.contact === undefined && event.metric === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['contact'],
        message: 'at least one of contact or metric must be provided',
      });
    }
  });
export type CreateEventRequest = DeepReadonly<z.output<typeof createEventRequestSchema>>;

/** API §4.8: who may read the uploaded file. The API's own default is public. */
export const mediaPermissionSchema = z.enum(MEDIA_PERMISSIONS);
export type MediaPermission = z.output<typeof mediaPermissionSchema>;

/**
 * Query strings. Arrays travel as comma-separated values in one parameter (API §4); the output
 * types are the filters that the client takes.
 */
const commaSeparated = <Item>(item: z.ZodType<Item, string>) =>
  z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(z.array(item).max(1000));
const queryInteger = z
  .string()
  .regex(/^-?\d{1,15}$/, 'expected an integer')
  .transform(Number);
const queryBoolean = z.enum(['true', 'false']).transform((value) => value === 'true');

const paging = {
  cursor: z.string().max(1000).optional(),
  limit: queryInteger.pipe(z.number().int().min(1)).optional(),
};

const ticketFilterFields = {
  id: uuid.optional(),
  agent_id: uuid.optional(),
  assignee_id: uuid.optional(),
  conversation_id: uuid.optional(),
  conversation_id__in: commaSeparated(uuid).optional(),
  label_id: uuid.optional(),
  priority: queryInteger.optional(),
  priority__in: commaSeparated(queryInteger).optional(),
  created_at__range: z.string().max(100).optional(),
};

/** API §4.4 */
export const ticketFiltersSchema = z.object(ticketFilterFields);
export type TicketFilters = DeepReadonly<z.output<typeof ticketFiltersSchema>>;

/** API §4.2 */
export const listTicketsQuerySchema = z.object({ ...ticketFilterFields, ...paging });
export type ListTicketsQuery = DeepReadonly<z.output<typeof listTicketsQuerySchema>>;

/** API §4.5 */
export const listMessagesQuerySchema = z.object({
  conversation_id: uuid.optional(),
  conversation_id__in: commaSeparated(uuid).optional(),
  ticket_id: uuid.optional(),
  ...paging,
});
export type ListMessagesQuery = DeepReadonly<z.output<typeof listMessagesQuerySchema>>;

/** API §4.10 */
export const listContactsQuerySchema = z.object({
  id: uuid.optional(),
  id__in: commaSeparated(uuid).optional(),
  email: z.string().max(320).optional(),
  phone: z.string().max(64).optional(),
  is_archived: queryBoolean.optional(),
  parent_contact_id: uuid.optional(),
  parent_contact_id__in: commaSeparated(uuid).optional(),
  parent_contact_id__isnull: queryBoolean.optional(),
  remote_platform: z.string().max(200).optional(),
  remote_platform__in: commaSeparated(z.string().max(200)).optional(),
  ...paging,
});
export type ListContactsQuery = DeepReadonly<z.output<typeof listContactsQuerySchema>>;
