import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import type { UploadRecord, VisitorRecord } from '../../spool/chat-store.ts';
import type { Entry } from '../../spool/entry.ts';
import { asBlobName, type ShopId } from '../../domain/ids.ts';
import { storedChat } from './stored.ts';

/** How a visitor's message lies in the spool: this file writes it and reads it back. */

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

/** The visitor is in the meta. */
const NO_BYTES = new Uint8Array();

/** What the `remote_id` of every message from here begins with. */
export const REMOTE_ID_PREFIX = 'chat:';

/**
 * The entry for a visitor's message. The bare client id is the visitor's to choose and could name
 * another customer's message, hence the visitor in `remote_id` and in the dedup key.
 */
export function chatArrival(
  shopId: ShopId,
  visitor: VisitorRecord,
  message: { id: string; text: string; uploads: readonly UploadRecord[]; receivedAt: number },
): Arrival {
  const meta: ChatMeta = {
    visitorId: visitor.id,
    messageId: message.id,
    verified: visitor.subject !== undefined,
    ...(visitor.name && { name: visitor.name }),
    ...(visitor.email && { email: visitor.email }),
  };
  const raw = JSON.stringify({ text: message.text, uploads: message.uploads });
  return {
    shopId,
    channel: 'web_chat',
    lane: visitor.lane,
    dedupKey: `${visitor.id}:${message.id}`,
    remoteId: `${REMOTE_ID_PREFIX}${visitor.id}:${message.id}`,
    receivedAt: message.receivedAt,
    meta,
    raw: { kind: 'inline', bytes: Buffer.from(raw) },
    summary: storedChat.summaryOf(meta, NO_BYTES),
  };
}

/**
 * The visitor and the client's id of a chat entry, for the ticks that delivery causes.
 * @throws {z.ZodError} this is no chat entry
 */
export const chatMeta = (entry: Pick<Entry, 'meta'>): ChatMeta => metaSchema.parse(entry.meta);

/** @throws {SyntaxError} {z.ZodError} the bytes are not what `chatArrival` writes */
export const chatRaw = (bytes: Uint8Array): ChatRaw =>
  rawSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
