import { z } from 'zod';
import type { Arrival } from '../../intake/intake.ts';
import type { UploadRecord, VisitorRecord } from '../../spool/chat-store.ts';
import type { Entry } from '../../spool/entry.ts';
import { type StoredFormReader, shownText, textIn } from '../../spool/stored-form.ts';
import type { PageInfo } from './events.ts';
import { asBlobName, asVisitorId, type VisitorId } from '../../domain/ids.ts';
import { sitesNetwork } from '../../runtime/ip-addresses.ts';

/**
 * The stored form of a visitor's message: the visitor in the meta, the text and its files in the
 * raw form. Only this file reads either.
 */

const metaSchema = z.object({
  visitorId: z.string(),
  messageId: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  /** The shop's own server verified this visitor, and therefore the email too. */
  verified: z.boolean(),
  /** From which network the message came. */
  network: z.string().optional(),
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
  page: z
    .object({
      url: z.string(),
      title: z.string().exactOptional(),
      cart: z.string().exactOptional(),
    })
    .exactOptional(),
});
export type ChatRaw = Readonly<z.output<typeof rawSchema>>;

/** The prefix of the `remote_id` of every message from this channel. */
export const REMOTE_ID_PREFIX = 'chat:';

/**
 * The visitor in a message's `remote_id`, and the client's message id; undefined if it is not from
 * this channel.
 */
export function originOf(
  remoteId: string,
): { readonly visitorId: VisitorId; readonly messageId: string } | undefined {
  const [, visitorId, messageId] = /^chat:([^:]+):(.+)$/.exec(remoteId) ?? [];
  if (visitorId === undefined || messageId === undefined) return undefined;
  return { visitorId: asVisitorId(visitorId), messageId };
}

/** What the `remote_id` of each message of a visitor begins with. */
export const remoteIdPrefix = (id: VisitorId): string => `${REMOTE_ID_PREFIX}${id}:`;

/** A visitor's message as the door received it. */
export interface WrittenMessage {
  readonly id: string;
  readonly text: string;
  readonly uploads: readonly UploadRecord[];
  /** For shops that want a line about it. */
  readonly page?: PageInfo | undefined;
  /** `ipNetwork` of the visitor. */
  readonly network?: string;
}

/** The stored parts of a visitor's message. */
export function storedForm(
  visitor: VisitorRecord,
  { id, text, uploads, page, network }: WrittenMessage,
): Pick<Arrival, 'meta' | 'raw' | 'summary'> {
  const meta: ChatMeta = {
    visitorId: visitor.id,
    messageId: id,
    verified: visitor.subject !== undefined,
    ...(network !== undefined && { network: sitesNetwork(network) }),
    ...(visitor.name && { name: visitor.name }),
    ...(visitor.email && { email: visitor.email }),
  };
  const raw = JSON.stringify({ text, uploads, page });
  const bytes = Buffer.from(raw);
  return { meta, raw: { kind: 'inline', bytes }, summary: storedChat.summaryOf(meta, bytes) };
}

/**
 * The visitor and the client's message id of a chat entry, for the ticks after delivery.
 * @throws {z.ZodError} it is not a chat entry
 */
export const chatMeta = (entry: Pick<Entry, 'meta'>): ChatMeta => metaSchema.parse(entry.meta);

/** @throws {SyntaxError} {z.ZodError} the bytes are not what `storedForm` writes */
export const chatRaw = (bytes: Uint8Array): ChatRaw =>
  rawSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));

/** What a visitor who gave no name is called everywhere. */
export const visitorName = (id: string): string =>
  id === '' ? '' : `Visitor ${id.slice(0, 4).toUpperCase()}`;

/** The stored form for lists, search and erasure; the visitor is in the meta. */
export const storedChat: StoredFormReader = {
  summaryOf: (meta) => {
    const email = textIn(meta, 'email');
    const name = textIn(meta, 'name') || visitorName(textIn(meta, 'visitorId'));
    const parts = [name, email === '' ? '' : `<${email}>`];
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
