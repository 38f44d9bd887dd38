import { z } from 'zod';

/**
 * The resources of the platform's REST API, version 2026-04 (§2), as a client reads them.
 *
 * Reading is tolerant, because one surprising field must not cost a customer his answer: fields
 * that the document does not name pass through, a value set may grow (an unknown status is kept
 * as the string it is), and null in an optional field means that it is absent. What the document
 * marks as required is required.
 */

const id = z.string().min(1);
const dateTime = z.string();
const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();
/** A documented value set; other values are kept as they come. */
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  optional(z.enum(values).or(z.string()));

export const TICKET_STATUSES = [
  'New',
  'Open',
  'Completed',
  'Archived',
  'WaitingUser',
  'WaitingContact',
] as const;
export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'HIDDEN'] as const;
export const MESSAGE_FORMATS = ['TEXT', 'RICH_TEXT', 'HTML', 'MARKDOWN'] as const;
export const MESSAGE_TYPES = ['Internal', 'External'] as const;
export const CONVERSATION_TYPES = [
  'phone_call',
  'web_call',
  'web_call_demo',
  'web_chat',
  'email',
  'sms',
  'comments',
  'form',
] as const;
export const CONVERSATION_STATUSES = ['new', 'open', 'pending'] as const;
export const CONVERSATION_RESOLUTIONS = ['hard', 'soft', 'escalated', 'human', 'merged'] as const;
export const MEDIA_PERMISSIONS = ['private', 'public'] as const;

const ticketFields = z.object({
  id,
  number: z.number(),
  name: z.string(),
  status: oneOf(TICKET_STATUSES),
  priority: optional(z.number()),
  summary: optional(z.string()),
  agent_id: id.nullable(),
  assignee_id: id.nullable(),
  contact_id: id.nullable(),
  conversation_id: id.nullable(),
  message_id: id.nullable(),
  label_id: id.nullable(),
  sublabel_id: id.nullable(),
  completed_at: dateTime.nullish(),
  last_message_at: dateTime.nullish(),
  last_message_content: optional(z.string()),
  is_test: z.boolean().nullish(),
  remote_id: z.string().nullish(),
  remote_platform: z.string().nullish(),
  created_at: dateTime,
  updated_at: dateTime,
});

const messageFields = z.object({
  id,
  conversation_id: id.nullable(),
  ticket_id: id.nullable(),
  contact_id: id.nullable(),
  agent_id: id.nullable(),
  user_id: id.nullable(),
  content: optional(z.string()),
  text: optional(z.string()),
  format: oneOf(MESSAGE_FORMATS),
  role: optional(z.string()),
  status: oneOf(MESSAGE_STATUSES),
  type: oneOf(MESSAGE_TYPES),
  remote_id: z.string().nullish(),
  remote_platform: z.string().nullish(),
  created_at: optional(dateTime),
  updated_at: dateTime,
});

const conversationFields = z.object({
  id,
  type: z.enum(CONVERSATION_TYPES).or(z.string()),
  direction: oneOf(['inbound', 'outbound']),
  status: oneOf(CONVERSATION_STATUSES),
  resolution: oneOf(CONVERSATION_RESOLUTIONS),
  title: optional(z.string()),
  agent_id: id.nullable(),
  contact_id: id.nullable(),
  user_id: id.nullable(),
  is_test: optional(z.boolean()),
  remote_id: z.string().nullish(),
  remote_platform: z.string().nullish(),
  created_at: dateTime,
  updated_at: dateTime,
});

const contactFields = z.object({
  id,
  name: optional(z.string()),
  display_name: optional(z.string()),
  company: optional(z.string()),
  role: optional(z.string()),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  parent_contact_id: id.nullable(),
  is_archived: optional(z.boolean()),
  is_test: optional(z.boolean()),
  last_activity_at: dateTime.nullish(),
  remote_id: z.string().nullish(),
  remote_platform: z.string().nullish(),
  created_at: dateTime,
  updated_at: dateTime,
});

const mediaFields = z.object({
  id,
  type: z.string(),
  url: z.string(),
  original_name: optional(z.string()),
  permission: oneOf(MEDIA_PERMISSIONS),
  created_at: dateTime,
});

/** API §2.1 */
export const ticketSchema = ticketFields.loose();
export type Ticket = Readonly<z.output<typeof ticketFields>>;

/** API §2.2 */
export const messageSchema = messageFields.loose();
export type Message = Readonly<z.output<typeof messageFields>>;

/** API §2.3 */
export const conversationSchema = conversationFields.loose();
export type Conversation = Readonly<z.output<typeof conversationFields>>;

/** API §2.4 */
export const contactSchema = contactFields.loose();
export type Contact = Readonly<z.output<typeof contactFields>>;

/** API §2.5. Only the id matters to an upload, so the rest may be missing from the answer. */
export const mediaRecordSchema = mediaFields.partial().extend({ id }).loose();
/** As the platform documents it (all required fields present). */
export type MediaRecord = Readonly<z.output<typeof mediaFields>>;
/** As a client may rely on it. */
export type UploadedMedia = Readonly<
  Pick<MediaRecord, 'id'> & { [K in keyof MediaRecord]?: MediaRecord[K] | undefined }
>;

/**
 * What a create-message answer is good for. Its form is documented for the existing message only
 * (API §4.7 rules 5 and 6), so every field may be missing, and one of the wrong type is taken as
 * missing.
 */
export const createdMessageSchema = z
  .object({
    id: optional(id).catch(undefined),
    conversation_id: id.nullish().catch(undefined),
    ticket_id: id.nullish().catch(undefined),
    contact_id: id.nullish().catch(undefined),
    remote_id: z.string().nullish().catch(undefined),
  })
  .loose();
export interface CreatedMessage {
  readonly id?: string | undefined;
  readonly conversation_id?: string | null | undefined;
  readonly ticket_id?: string | null | undefined;
  readonly contact_id?: string | null | undefined;
  readonly remote_id?: string | null | undefined;
}

/** API §4.1: the resolved contact, present if a contact was provided. */
export const createdEventSchema = z
  .object({
    contact: optional(
      z
        .object({
          id: optional(id),
          email: z.string().nullish(),
          phone: z.string().nullish(),
          remote_id: z.string().nullish(),
        })
        .loose(),
    ),
  })
  .loose();
export interface CreatedEvent {
  readonly contact?:
    | {
        readonly id?: string | undefined;
        readonly email?: string | null | undefined;
        readonly phone?: string | null | undefined;
        readonly remote_id?: string | null | undefined;
      }
    | undefined;
}

/** API §4.4 */
export const ticketCountSchema = z.object({ count: z.number() }).loose();

/** API §2.6: the envelope of every list. The links carry an opaque `cursor`. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z
    .object({
      results: z.array(item),
      next: z.string().nullish(),
      previous: z.string().nullish(),
    })
    .loose();
export interface Page<T> {
  readonly results: readonly T[];
  readonly next?: string | null | undefined;
  readonly previous?: string | null | undefined;
}
