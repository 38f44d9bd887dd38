import { z } from 'zod';
import {
  contactFields,
  conversationFields,
  mediaFields,
  messageFields,
  ticketFields,
} from './resource-fields.ts';

/**
 * The resources of the platform's REST API, version 2026-04 (§2), as a client reads them.
 *
 * Reading is tolerant, because one surprising field must not cost a customer his answer: fields
 * that the document does not name pass through, a value set may grow (an unknown status is kept
 * as the string it is), an id may be any text, and null in an optional field means that it is
 * absent. What the document marks as required is required.
 */

const id = z.string().min(1);
const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();

/** The type of a documented field, whatever its format and its value set. */
type Value<T> = z.output<T> extends string ? string : z.output<T> extends number ? number : boolean;
type Read<T> =
  T extends z.ZodOptional<z.ZodNullable<infer Inner>>
    ? z.ZodOptional<z.ZodType<Value<Inner> | null>>
    : T extends z.ZodOptional<infer Inner>
      ? z.ZodOptional<z.ZodType<Value<Inner> | undefined>>
      : T extends z.ZodNullable<infer Inner>
        ? z.ZodType<Value<Inner> | null>
        : z.ZodType<Value<T>>;

/** How a client reads documented fields. */
function reader<Shape extends z.ZodRawShape>(fields: z.ZodObject<Shape>) {
  const shape = Object.fromEntries(
    Object.entries(fields.shape).map(([name, schema]) => [name, readable(schema)]),
  );
  // `readable` does to each schema what `Read` does to its type.
  return z.object(shape as { [Name in keyof Shape]: Read<Shape[Name]> });
}

function readable(schema: unknown): z.ZodType {
  if (!(schema instanceof z.ZodOptional)) {
    return schema instanceof z.ZodNullable ? plain(schema.unwrap()).nullable() : plain(schema);
  }
  const inner: unknown = schema.unwrap();
  return inner instanceof z.ZodNullable ? plain(inner.unwrap()).nullish() : optional(plain(inner));
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
const message = reader(messageFields);
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

/** API §2.5. Only the id matters to an upload, so the rest may be missing from the answer. */
const media = reader(mediaFields);
export const mediaRecordSchema = media.partial().extend({ id }).loose();
/** As the platform documents it (all required fields present). */
export type MediaRecord = Readonly<z.output<typeof media>>;
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
    // Some platforms number their messages.
    id: optional(z.union([id, z.number().transform(String)])).catch(undefined),
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
