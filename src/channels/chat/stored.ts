import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import type { UploadRecord, VisitorRecord } from '../../spool/chat-store.ts';
import type { Entry } from '../../spool/entry.ts';
import { type StoredForm, shownText, textIn } from '../../spool/stored-form.ts';
import { asBlobName } from '../../domain/ids.ts';

/**
 * How a visitor's message lies in the spool: who wrote it in its meta, the text and its files in its
 * raw form. Nobody else reads either of them.
 */

const metaSchema = z.object({
  visitorId: z.string(),
  messageId: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  /** The shop's own server vouched for this visitor, so for the email too. */
  verified: z.boolean(),
});
export type ChatMeta = Readonly<z.output<typeof metaSchema>>;

const rawSchema = z.object({
  text: z.string(),
  uploads: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      type: z.string(),
      size: z.number(),
      blob: z.string().transform(asBlobName),
      checksum: z.number().exactOptional(),
    }),
  ),
});
export type ChatRaw = Readonly<z.output<typeof rawSchema>>;

/** What the `remote_id` of every message from here begins with. */
export const REMOTE_ID_PREFIX = 'chat:';

/** What of a visitor's message is stored. */
export function storedForm(
  visitor: VisitorRecord,
  message: { id: string; text: string; uploads: readonly UploadRecord[] },
): Pick<Arrival, 'meta' | 'raw' | 'summary'> {
  const meta: ChatMeta = {
    visitorId: visitor.id,
    messageId: message.id,
    verified: visitor.subject !== undefined,
    ...(visitor.name && { name: visitor.name }),
    ...(visitor.email && { email: visitor.email }),
  };
  const raw = JSON.stringify({ text: message.text, uploads: message.uploads });
  const bytes = Buffer.from(raw);
  return { meta, raw: { kind: 'inline', bytes }, summary: storedChat.summaryOf(meta, bytes) };
}

/**
 * The visitor and the client's id of a chat entry, for the ticks that delivery causes.
 * @throws {z.ZodError} this is no chat entry
 */
export const chatMeta = (entry: Pick<Entry, 'meta'>): ChatMeta => metaSchema.parse(entry.meta);

/** @throws {SyntaxError} {z.ZodError} the bytes are not what `storedForm` writes */
export const chatRaw = (bytes: Uint8Array): ChatRaw =>
  rawSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));

/** What lists, the search and the erasure ask of it: the visitor, who is in the meta. */
export const storedChat: StoredForm = {
  summaryOf: (meta) => {
    const email = textIn(meta, 'email');
    const parts = [textIn(meta, 'name'), email === '' ? '' : `<${email}>`];
    return {
      from: shownText(parts.filter((part) => part !== '').join(' ')),
      to: '',
      subject: '',
      more: textIn(meta, 'visitorId'),
    };
  },
  identitiesIn: ({ meta }) =>
    [meta['visitorId'], meta['email']].filter((name) => typeof name === 'string'),
};
