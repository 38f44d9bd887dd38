import { z } from 'zod';
import { utcTime } from './date-time.ts';
import { MEDIA_PERMISSIONS } from './resources.ts';

/**
 * The requests of the platform's REST API, version 2026-04 (§4): bodies and list filters. The local
 * platform validates requests with these schemas and generates its OpenAPI document from them; channels
 * build and the client sends values of their types. Unknown fields are ignored.
 */

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** Accepted in any case, and converted to lower case. */
export const uuid = z.guid().toLowerCase();
/**
 * Deliberately permissive: real addresses violate strict patterns (`user.@docomo.ne.jp`,
 * internationalized and quoted local parts, RFC 5321 §4.1.2), and a rejected address is a lost message.
 * Text that mail programs parse as a list, a group or a comment is excluded (RFC 5322 §3.4).
 */
const EMAIL =
  /^(?:"[^"\\<>\p{Cc}]+"|[^\s@<>"(),;:\p{Cc}]+)@(?:\[[^\s@<>"(),;[\]\p{Cc}]+\]|[^\s@<>"(),;:[\]\p{Cc}]+)$/u;
const EMAIL_MAX_CHARS = 320;
/** Whether the text is a single email address. */
export const isEmailAddress = (text: string) => text.length <= EMAIL_MAX_CHARS && EMAIL.test(text);
const email = z
  .string()
  .max(EMAIL_MAX_CHARS)
  .refine(isEmailAddress, 'expected an email address')
  .meta({ format: 'email' });
const phone = z.string();
/** Converted to UTC with milliseconds. */
const dateTime = z
  .string()
  .refine((text) => utcTime(text) !== undefined, {
    error: 'expected an ISO 8601 date-time of the years 0001 to 9999, like 2026-04-21T09:30:00Z',
  })
  .overwrite((text) => utcTime(text) ?? text)
  .meta({ format: 'date-time' });
const mailbox = z.object({
  email: email.optional().describe('The address.'),
  name: z.string().optional().describe('The display name.'),
});

/** API §4.7, the `contact` object. */
const messageContact = z.object({
  email: email.nullish().describe('Finds the contact; in any letter case.'),
  name: z.string().optional().describe('Stored if the contact has no name yet.'),
  phone: phone.nullish().describe('Finds the contact if the email address does not.'),
});

/** API §4.7, the `conversation` object. */
const messageConversation = z
  .object({
    direction: z.literal('inbound').describe('The message comes from a customer.'),
    type: z
      .enum(['email', 'sms', 'web_chat'])
      .optional()
      .describe('The channel of a new conversation; required without `id`.'),
    id: uuid.nullish().describe('The existing conversation to append to.'),
    agent_contact: z
      .string()
      .max(320)
      .nullish()
      .describe(
        'The support email address or phone number that the message was sent to. Resolves which ' +
          'agent handles the conversation. Required for types `email` and `sms`, omitted for ' +
          '`web_chat`.',
      ),
    intent_id: uuid.nullish().describe('The intent of the conversation.'),
    topic_id: uuid.nullish().describe('The topic of the conversation.'),
    user_id: uuid.nullish().describe('The teammate who takes part.'),
  })
  .superRefine((conversation, context) => {
    const { type } = conversation;
    if (type !== 'email' && type !== 'sms') return;
    const agentContact = conversation.agent_contact?.trim() ?? '';
    const wrong = (message: string) =>
      context.addIssue({ code: 'custom', path: ['agent_contact'], message });
    if (agentContact === '') wrong(`required for conversations of type ${type}`);
    else if (type === 'email' && !isEmailAddress(agentContact)) wrong('expected an email address');
  })
  .meta({
    if: { properties: { type: { enum: ['email', 'sms'] } }, required: ['type'] },
    then: {
      properties: { agent_contact: { type: 'string', pattern: '\\S' } },
      required: ['agent_contact'],
    },
    allOf: [
      {
        if: { properties: { type: { const: 'email' } }, required: ['type'] },
        then: { properties: { agent_contact: { format: 'email' } } },
      },
    ],
  });

/** API §4.7, the `message.email` object. */
const messageEmail = z.object({
  subject: z.string().optional().describe('Becomes the title of a new conversation.'),
  in_reply_to: z
    .string()
    .optional()
    .describe('In-Reply-To (RFC 5322): finds the conversation by the `remote_id` of a message.'),
  references: z
    .array(z.string())
    .optional()
    .describe('References (RFC 5322), oldest first; used if `in_reply_to` finds no conversation.'),
  cc: z.array(mailbox).optional().describe('The recipients of a copy.'),
  bcc: z.array(mailbox).optional().describe('The recipients of a blind copy.'),
});

/** API §4.7, the `message` object. */
const messageBody = z.object({
  content: z.string().describe('The text in `format`.'),
  format: z.enum(['TEXT', 'MARKDOWN', 'HTML']).optional().describe('How `content` is formatted.'),
  attachments: z
    .array(uuid)
    .optional()
    .describe('Ids of media records from Upload media, in display order.'),
  remote_id: z
    .string()
    .nullish()
    .describe(
      'The id of the message in the system that it comes from: the Message-ID of an email. It is ' +
        'the dedup key: a message with a known `remote_id` is not created again.',
    ),
  timestamp: dateTime.nullish().describe('When it was written; becomes `created_at`.'),
  email: messageEmail.optional().describe('Email-specific headers, which are used for threading.'),
});

/** API §4.7 */
export const createMessageRequestSchema = z.object({
  contact: messageContact.describe('The author. An unknown contact is created.'),
  conversation: messageConversation.describe('The conversation of the message.'),
  message: messageBody.describe('The message.'),
});
export type CreateMessageRequest = DeepReadonly<z.output<typeof createMessageRequestSchema>>;

/**
 * Tells the embedded platform with a message that nothing confirms its sender, and the network that
 * delivered it. Without it, whoever has the API key vouches for the sender.
 */
export const UNVERIFIED_HEADER = 'X-Sluice-Unverified-From';
/** Tells the embedded platform that the shop has written the message itself: it becomes a note. */
export const ECHO_HEADER = 'X-Sluice-Echo';
/** The network of a message that a relay or a program brought for somebody else. */
export const UNKNOWN_NETWORK = 'unknown';
/**
 * After the network: the signature that confirms the sender leaves the subject to anyone. Then no id of
 * an answer confirms them either, because the message may be a real reply with another subject.
 */
export const UNSIGNED_SUBJECT = ' unsigned-subject';
/** Instead of the network: the domain in From says that the email is not theirs (DMARC). */
export const FAILS_POLICY = 'fails-policy';

/** API §4.1, the `metric` object. */
const eventMetric = z.object({
  metric_name: z.string().optional().describe('What is measured.'),
  value: z.number().optional().describe('The measured value.'),
  deduping_key: z
    .string()
    .optional()
    .describe('A metric with a known name and key is not recorded again.'),
  metric_object_type: z.string().optional().describe('The type of the measured object.'),
  metric_object_id: uuid.optional().describe('The id of the measured object.'),
  context_object_type: z.string().optional().describe('The type of the context object.'),
  context_object_id: uuid.optional().describe('The id of the context object.'),
  additional_properties: z
    .record(z.string(), z.string())
    .optional()
    .describe('Further properties, as strings by name.'),
});

/** API §4.1, the `contact` object. */
const eventContact = z.object({
  email: email.optional().describe('Finds the contact; in any letter case.'),
  name: z.string().optional().describe('Stored if the contact has no name yet.'),
  phone: phone.optional().describe('Finds the contact if the email address does not.'),
  remote_id: z.string().optional().describe('Finds the contact if neither of the others does.'),
});

/** API §4.1: at least one of contact or metric. */
export const createEventRequestSchema = z
  .object({
    name: z.string().min(1).describe("The event's name, used as the activity title."),
    description: z.string().optional().describe('A description.'),
    event_time: dateTime.optional().describe('When it happened; defaults to the current time.'),
    contact: eventContact
      .optional()
      .describe('Resolves or creates a contact and adds the event to its timeline.'),
    metric: eventMetric.optional().describe('Emits a metric event.'),
  })
  .superRefine((event, context) => {
    if (event.contact === undefined && event.metric === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['contact'],
        message: 'at least one of contact or metric must be provided',
      });
    }
  })
  .meta({ anyOf: [{ required: ['contact'] }, { required: ['metric'] }] });
export type CreateEventRequest = DeepReadonly<z.output<typeof createEventRequestSchema>>;

/** API §4.8: who may read the uploaded file. The API's own default is public. */
export const mediaPermissionSchema = z.enum(MEDIA_PERMISSIONS);
export type MediaPermission = z.output<typeof mediaPermissionSchema>;

/**
 * Query strings. An array is one parameter with comma-separated values (API §4). The output types are
 * the client's filters; in the OpenAPI document a parameter has the type that its text represents.
 */
const commaSeparated = <Item>(item: z.ZodType<Item, string>, documented: object) =>
  z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(z.array(item).max(1000))
    .optional()
    .meta({ type: 'array', maxItems: 1000, ...documented });
const text = (maxLength: number, about: string) =>
  z.string().min(1).max(maxLength).optional().describe(about);
const queryInteger = z
  .string()
  .regex(/^-?\d+$/, 'expected an integer')
  .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER));
const queryBoolean = (about: string) =>
  z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ type: 'boolean', enum: undefined, description: about });
const uuids = (about: string) =>
  commaSeparated(uuid, { items: { type: 'string', format: 'uuid' }, description: about });

const paging = {
  cursor: text(1000, 'A value taken from a previous `next` or `previous` link.'),
  limit: queryInteger.pipe(z.number().min(1, 'expected 1 or more')).optional().meta({
    type: 'integer',
    pattern: undefined,
    minimum: 1,
    description: 'The number of results per page.',
  }),
};

const ticketFilterFields = {
  id: uuid.optional().describe('Only this ticket.'),
  agent_id: uuid.optional().describe('Tickets assigned to this agent.'),
  assignee_id: uuid.optional().describe('Tickets assigned to this teammate.'),
  conversation_id: uuid.optional().describe('Tickets linked to this conversation.'),
  conversation_id__in: uuids('Tickets linked to any of these conversations.'),
  label_id: uuid.optional().describe('Tickets with this label.'),
  priority: queryInteger.optional().meta({
    type: 'integer',
    pattern: undefined,
    description: 'Tickets with this priority number.',
  }),
  priority__in: commaSeparated(queryInteger, {
    items: { type: 'integer' },
    description: 'Tickets with any of these priority numbers.',
  }),
  created_at__range: text(
    100,
    'A creation time window of at most 30 days, as two comma-separated ends: `relative:-7d,` for ' +
      'the last 7 days, or a start and an end as ISO 8601 date-times, both inclusive.',
  ),
};

/** API §4.4 */
export const ticketFiltersSchema = z.object(ticketFilterFields);
export type TicketFilters = DeepReadonly<z.output<typeof ticketFiltersSchema>>;

/** API §4.2 */
export const listTicketsQuerySchema = z.object({ ...ticketFilterFields, ...paging });
export type ListTicketsQuery = DeepReadonly<z.output<typeof listTicketsQuerySchema>>;

/** API §4.5 */
export const listMessagesQuerySchema = z.object({
  conversation_id: uuid.optional().describe('Messages of this conversation.'),
  conversation_id__in: uuids('Messages of any of these conversations.'),
  ticket_id: uuid.optional().describe('Messages of this ticket.'),
  ...paging,
});
export type ListMessagesQuery = DeepReadonly<z.output<typeof listMessagesQuerySchema>>;

/** API §4.10 */
export const listContactsQuerySchema = z.object({
  id: uuid.optional().describe('Only this contact.'),
  id__in: uuids('Contacts with these ids.'),
  email: text(320, 'The contact with this email address, in any letter case.'),
  phone: z.string().min(1).optional().describe('The contact with this phone number.'),
  is_archived: queryBoolean('`true` for archived contacts, `false` for active ones.'),
  parent_contact_id: uuid.optional().describe('Child contacts of this parent.'),
  parent_contact_id__in: uuids('Child contacts of these parents.'),
  parent_contact_id__isnull: queryBoolean(
    '`true` for top-level contacts only, `false` for child contacts only.',
  ),
  remote_platform: text(200, 'Contacts from this external platform.'),
  remote_platform__in: commaSeparated(z.string().min(1).max(200), {
    items: { type: 'string' },
    description: 'Contacts from any of these external platforms.',
  }),
  ...paging,
});
export type ListContactsQuery = DeepReadonly<z.output<typeof listContactsQuerySchema>>;
