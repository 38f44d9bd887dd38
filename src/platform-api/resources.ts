import { z } from 'zod';
import { cursorOf } from './addresses.ts';

/**
 * The resources of the platform's REST API, version 2026-04 (§2), with the fields as documented. The
 * local platform answers with them and generates its OpenAPI document from them; `reader` below
 * derives the schemas with which a client reads them.
 *
 * A `nullable` field is always present and may be null; an `optional` one may be absent.
 */

const TICKET_STATUSES = [
  'New',
  'Open',
  'Completed',
  'Archived',
  'WaitingUser',
  'WaitingContact',
] as const;
const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'HIDDEN'] as const;
const MESSAGE_FORMATS = ['TEXT', 'RICH_TEXT', 'HTML', 'MARKDOWN'] as const;
const MESSAGE_TYPES = ['Internal', 'External'] as const;
const CONVERSATION_TYPES = [
  'phone_call',
  'web_call',
  'web_call_demo',
  'web_chat',
  'email',
  'sms',
  'comments',
  'form',
] as const;
const CONVERSATION_STATUSES = ['new', 'open', 'pending'] as const;
const CONVERSATION_RESOLUTIONS = ['hard', 'soft', 'escalated', 'human', 'merged'] as const;
export const MEDIA_PERMISSIONS = ['private', 'public'] as const;

const uuid = z.guid();
const dateTime = z.iso.datetime({ offset: true });

/** For fields that may be null, absent, or both. */
const nullable = <T extends z.ZodType>(schema: T, about: string) =>
  schema.nullable().describe(about);
const optional = <T extends z.ZodType>(schema: T, about: string) =>
  schema.optional().describe(about);
const nullish = <T extends z.ZodType>(schema: T, about: string) => schema.nullish().describe(about);

const remoteId = nullish(z.string(), 'Its id in an external platform.');
const remotePlatform = nullish(z.string(), 'The name of the external platform.');
const createdAt = dateTime.describe('When it was created.');
const updatedAt = dateTime.describe('When it was last changed.');

/** API §2.1 */
export const ticketFields = z.object({
  id: uuid.describe('The ticket.'),
  number: z.int().describe("The ticket's number within the shop, for people to refer to."),
  name: z.string().describe('The subject in one line.'),
  status: optional(z.enum(TICKET_STATUSES), 'Whether it is done, or who has to act next.'),
  priority: optional(z.int(), 'Its priority as a number.'),
  summary: optional(z.string(), 'A short summary; absent without one.'),
  agent_id: nullable(uuid, 'The AI agent that it is assigned to.'),
  assignee_id: nullable(uuid, 'The teammate that it is assigned to.'),
  contact_id: nullable(uuid, 'The customer.'),
  conversation_id: nullable(uuid, 'The conversation that it belongs to.'),
  message_id: nullable(uuid, 'The message that opened it.'),
  label_id: nullable(uuid, 'Its label.'),
  sublabel_id: nullable(uuid, 'Its label below that label.'),
  completed_at: nullish(dateTime, 'When it was completed.'),
  last_message_at: nullish(dateTime, 'The time of the last message.'),
  last_message_content: optional(z.string(), 'The beginning of the last message.'),
  is_test: nullish(z.boolean(), 'Whether it was created for a test.'),
  remote_id: remoteId,
  remote_platform: remotePlatform,
  created_at: createdAt,
  updated_at: updatedAt,
});

/** API §2.2 */
export const messageFields = z.object({
  id: uuid.describe('The message.'),
  conversation_id: nullable(uuid, 'The conversation that it is part of.'),
  ticket_id: nullable(uuid, 'The ticket of that conversation.'),
  contact_id: nullable(uuid, 'The customer.'),
  agent_id: nullable(uuid, 'The AI agent that wrote it.'),
  user_id: nullable(uuid, 'The teammate who wrote it.'),
  content: optional(z.string(), 'The text in `format`.'),
  text: optional(z.string(), 'The text without markup.'),
  format: optional(z.enum(MESSAGE_FORMATS), 'How `content` is formatted.'),
  role: optional(z.string(), 'Who wrote it.'),
  status: optional(z.enum(MESSAGE_STATUSES), 'Delivery status for outbound messages.'),
  type: optional(z.enum(MESSAGE_TYPES), 'Visible to the customer, or internal.'),
  remote_id: nullish(
    z.string(),
    'Its id in the system that it came from or was sent to: the Message-ID of an email.',
  ),
  remote_platform: remotePlatform,
  created_at: optional(dateTime, 'When it was written.'),
  updated_at: updatedAt,
});

/** API §2.3 */
export const conversationFields = z.object({
  id: uuid.describe('The conversation.'),
  type: z.enum(CONVERSATION_TYPES).describe('Its channel.'),
  direction: optional(
    z.enum(['inbound', 'outbound']),
    'Started by a customer message, or by an outbound message from the team.',
  ),
  status: optional(z.enum(CONVERSATION_STATUSES), 'Its status.'),
  resolution: optional(
    z.enum(CONVERSATION_RESOLUTIONS),
    'How it was resolved; present when a resolution is available.',
  ),
  title: optional(z.string(), 'The subject of an email conversation.'),
  agent_id: nullable(uuid, 'The AI agent that handles it.'),
  contact_id: nullable(uuid, 'The customer.'),
  user_id: nullable(uuid, 'The teammate who takes part.'),
  is_test: optional(z.boolean(), 'Whether it was created for a test.'),
  remote_id: remoteId,
  remote_platform: remotePlatform,
  created_at: createdAt,
  updated_at: updatedAt,
});

/** API §2.4 */
export const contactFields = z.object({
  id: uuid.describe('The contact.'),
  name: optional(z.string(), 'The name, when it is known.'),
  display_name: optional(z.string(), 'What to show: the name, else the email address or number.'),
  company: optional(z.string(), 'The company.'),
  role: optional(z.string(), 'The role in the company.'),
  email: nullish(z.string(), 'The email address, in lower case.'),
  phone: nullish(z.string(), 'The phone number.'),
  parent_contact_id: nullable(uuid, 'Null for a top-level contact; set for a child contact.'),
  is_archived: optional(z.boolean(), 'Whether the contact is archived.'),
  is_test: optional(z.boolean(), 'Whether it was created for a test.'),
  last_activity_at: nullish(dateTime, 'When the contact last wrote or did something.'),
  remote_id: remoteId,
  remote_platform: remotePlatform,
  created_at: createdAt,
  updated_at: updatedAt,
});

/** API §2.5 */
export const mediaFields = z.object({
  id: uuid.describe('The id of the file, for `attachments` of Create message.'),
  type: z.string().describe('Its media type.'),
  url: z.url().describe('Direct download URL; may be signed, with a limited lifetime.'),
  original_name: optional(z.string(), 'The name that it was uploaded with.'),
  permission: optional(z.enum(MEDIA_PERMISSIONS), 'Whether anyone with the URL may read it.'),
  created_at: createdAt,
});

/** API §4.1: the resolved contact of an event. */
export const eventContactFields = z.object({
  id: optional(uuid, 'The contact, found or created.'),
  email: optional(z.string(), 'Its email address.'),
  phone: optional(z.string(), 'Its phone number.'),
  remote_id: optional(z.string(), 'Its id in an external platform.'),
});

/**
 * The same resources as a client reads them.
 *
 * Reading is tolerant, because an unexpected field must not lose a reply: undocumented fields are kept,
 * an enumeration may have new values, which are kept as strings, an id may be any string, and null in
 * an optional field means absent. Fields that are documented as required are required.
 */

const id = z.string().min(1);
const orAbsent = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();

/** The basic type of a documented field, without its format and its set of values. */
type Value<T> = z.output<T> extends string ? string : z.output<T> extends number ? number : boolean;
type Read<T> =
  T extends z.ZodOptional<z.ZodNullable<infer Inner>>
    ? z.ZodOptional<z.ZodType<Value<Inner> | null>>
    : T extends z.ZodOptional<infer Inner>
      ? z.ZodOptional<z.ZodType<Value<Inner> | undefined>>
      : T extends z.ZodNullable<infer Inner>
        ? z.ZodType<Value<Inner> | null>
        : z.ZodType<Value<T>>;

/** The schema with which a client reads documented fields. */
function reader<Shape extends z.ZodRawShape>(fields: z.ZodObject<Shape>) {
  const shape = Object.fromEntries(
    Object.entries(fields.shape).map(([name, schema]) => [name, readable(schema)]),
  );
  // `readable` converts a schema like `Read` converts its type.
  return z.object(shape as { [Name in keyof Shape]: Read<Shape[Name]> });
}

function readable(schema: unknown): z.ZodType {
  if (!(schema instanceof z.ZodOptional)) {
    return schema instanceof z.ZodNullable ? plain(schema.unwrap()).nullable() : plain(schema);
  }
  const inner: unknown = schema.unwrap();
  return inner instanceof z.ZodNullable ? plain(inner.unwrap()).nullish() : orAbsent(plain(inner));
}

function plain(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodBoolean) return z.boolean();
  if (schema instanceof z.ZodNumber) return z.number();
  return schema instanceof z.ZodGUID ? id : z.string();
}

/** API §2.1 */
const ticket = reader(ticketFields);
export const ticketSchema = ticket.loose();
export type Ticket = Readonly<z.output<typeof ticket>>;

/** API §2.2 */
const message = reader(messageFields).extend({
  /** Not of the API: from the embedded platform's agent only. */
  choices: z
    .array(z.object({ id: z.string().max(40), text: z.string().trim().min(1).max(80) }))
    .max(4)
    .optional()
    .catch(undefined),
});
export const messageSchema = message.loose();
export type Message = Readonly<z.output<typeof message>>;

/** API §2.3 */
const conversation = reader(conversationFields);
export const conversationSchema = conversation.loose();
export type Conversation = Readonly<z.output<typeof conversation>>;

/** API §2.4 */
const contact = reader(contactFields);
export const contactSchema = contact.loose();
export type Contact = Readonly<z.output<typeof contact>>;

/** API §2.5. An upload needs only the id, so the other fields may be missing from the answer. */
const media = reader(mediaFields);
export const mediaRecordSchema = media.partial().extend({ id }).loose();
/** As documented, with all required fields. */
export type MediaRecord = Readonly<z.output<typeof media>>;
/** As a client can rely on it. */
export type UploadedMedia = Readonly<
  Pick<MediaRecord, 'id'> & { [K in keyof MediaRecord]?: MediaRecord[K] | undefined }
>;

/** Whether an id may be kept, sent and put into a path: a longer or stranger one is no id of an API. */
export const isUsableId = (value: string): boolean =>
  /^[A-Za-z0-9._~:-]{1,128}$/.test(value) && !/^\.+$/.test(value);

/** Some platforms use numbers as ids. */
const keptId = z
  .union([z.string(), z.number().transform(String)])
  .refine(isUsableId)
  .nullish()
  .catch(undefined);

/**
 * The answer of create message. It is documented only for an existing message (API §4.7 rules 5 and
 * 6), so every field may be missing; a field of the wrong type is treated as missing.
 */
const createdMessage = z.object({
  id: keptId,
  conversation_id: keptId,
  ticket_id: keptId,
  contact_id: keptId,
  remote_id: z.string().nullish().catch(undefined),
  content: z.string().nullish().catch(undefined),
});
export const createdMessageSchema = createdMessage.loose();
export type CreatedMessage = Readonly<z.output<typeof createdMessage>>;

/** API §4.1: the resolved contact, present if a contact was provided. */
const createdContact = z.object({
  id: orAbsent(id),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  remote_id: z.string().nullish(),
});
export const createdEventSchema = z.object({ contact: orAbsent(createdContact.loose()) }).loose();
export interface CreatedEvent {
  readonly contact?: Readonly<z.output<typeof createdContact>> | undefined;
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

/**
 * Iterates over the pages of a list: `pages((query) => client.listTickets(query), { limit: 100 })`.
 *
 * Only the cursor of a `next` link is used: the link contains a host, and an answer must not decide
 * where the key is sent.
 */
export async function* pages<Query extends object, Item>(
  list: (query: Query & { cursor?: string }) => Promise<Page<Item>>,
  query: Query,
): AsyncGenerator<Page<Item>, void, undefined> {
  const seen = new Set<string>();
  let page = await list(query);
  for (;;) {
    yield page;
    const cursor = cursorOf(page.next);
    // Ends when a server repeats a cursor, which would loop forever.
    if (cursor === undefined || seen.has(cursor)) return;
    seen.add(cursor);
    page = await list({ ...query, cursor });
  }
}

/** Iterates over the items of all pages: `for await (const ticket of items(client.ticketPages()))`. */
export async function* items<Item>(
  pages: AsyncIterable<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.results;
}
