import { createReadStream } from 'node:fs';
import * as z from 'zod';
import type { BlobStore } from '../../spool/blobs.ts';
import type { EntryMeta, RawForm, StoredSummary } from '../../spool/entry.ts';
import { type StoredFormReader, shownText, textIn } from '../../spool/stored-form.ts';
import { type HeaderBlock, HeaderCollector, parseHeaderBlock } from './header-block.ts';
import { decodeWords } from './normalize/head/encoded-words.ts';
import { verdictSchema } from './authentication/verdict.ts';

/** What the door knows about an email besides its bytes. Stored with the entry, never logged. */
const emailMetaSchema = z.object({
  /** The client's IP address, or the name of the command that ingested it. */
  remoteAddress: z.string(),
  /** The HELO or EHLO argument as sent; empty if there was none. */
  heloName: z.string(),
  /** Protocol and cipher, or false for an unencrypted connection. */
  tls: z.union([z.literal(false), z.string()]),
  /** A relay in `smtp.trustedRelays`: the sender's own server is one hop further. */
  trustedRelay: z.boolean(),
  /** The reverse-path without brackets; empty for the null sender of bounces. */
  envelopeFrom: z.string(),
  /** The recipients in the envelope that belong to this shop. */
  envelopeTo: z.array(z.string()),
  /** The inbox: the shop's address that it was sent to. The platform's `agent_contact`. */
  agentContact: z.string(),
  /** This shop's addresses in the envelope, To and Cc. */
  ourAddressesMatched: z.array(z.string()),
  /** Our `Received:` header (RFC 5321 §4.4), stored beside the raw bytes rather than in them. */
  receivedHeader: z.string(),
  /** In angle brackets; absent if the message has no usable one. */
  messageId: z.string().optional(),
  /**
   * The verdict on the sender, for a shop that rejects at the door; otherwise it is determined at
   * delivery.
   */
  authentication: verdictSchema.optional(),
});

export type EmailMeta = Readonly<z.infer<typeof emailMetaSchema>>;

/** @throws {z.ZodError} the entry was not created by an email door */
export function parseEmailMeta(meta: EntryMeta): EmailMeta {
  return emailMetaSchema.parse(meta);
}

/** The location of a message's bytes; can be cloned to another thread. */
export type RawSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string };

export interface OpenedRaw {
  readonly source: RawSource;
  /** Call it once nothing reads the source any more. Never rejects. */
  readonly dispose: () => Promise<void>;
}

/**
 * @returns bytes in their own buffer, because cloning a view to a worker copies its whole buffer
 * @throws the errors of `BlobStore.read`
 */
export async function openRaw(raw: RawForm, blobs: Pick<BlobStore, 'scratch'>): Promise<OpenedRaw> {
  if (raw.kind === 'file') {
    const { path, dispose } = await blobs.scratch(raw.blob);
    return { source: { kind: 'file', path }, dispose };
  }
  const { bytes } = raw;
  const isOwn = bytes.byteLength === bytes.buffer.byteLength;
  return {
    source: { kind: 'bytes', bytes: isOwn ? bytes : new Uint8Array(bytes) },
    dispose: () => Promise.resolve(),
  };
}

const READ_BYTES = 64 * 1024;

interface HeadOfMessage {
  readonly head: HeaderBlock;
  /** The raw header block. */
  readonly bytes: Uint8Array;
}

/** Reads only the header block, of at most `MAX_HEADER_BYTES`. */
export async function readRawHead(raw: RawSource): Promise<HeadOfMessage> {
  const collector = new HeaderCollector();
  const taken: Uint8Array[] = [];
  for await (const chunk of chunksOf(raw)) {
    taken.push(chunk.subarray(0, collector.push(chunk)));
    if (collector.complete) break;
  }
  return { head: collector.finish(), bytes: Buffer.concat(taken) };
}

/** A message's bytes, from memory or from its file. */
export async function* chunksOf(raw: RawSource): AsyncGenerator<Buffer> {
  if (raw.kind === 'file') {
    const file: AsyncIterable<Buffer> = createReadStream(raw.path, { highWaterMark: READ_BYTES });
    yield* file;
    return;
  }
  const { buffer, byteOffset, byteLength } = raw.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let at = 0; at < bytes.length; at += READ_BYTES) {
    // Lets a timer run that may end the work.
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    yield bytes.subarray(at, at + READ_BYTES);
  }
}

const MAX_ENCODED_CHARS = 4096;
const MAX_MORE_CHARS = 2000;
const MAX_RECIPIENTS = 50;

/** An email is stored as its bytes; its sender is part of its lane. */
export const storedEmail: StoredFormReader = {
  summaryOf: (meta, beginning) => summaryOfHeaders(meta, parseHeaderBlock(beginning)),
  // `emailLane` appends the agent's contact to the sender's address.
  identitiesIn: ({ lane, meta }) => [lane.slice(0, -1 - String(meta['agentContact']).length)],
};

/** The same for a header block that was already read. */
export function summaryOfHeaders(meta: EntryMeta, headers: HeaderBlock): StoredSummary {
  const envelopeFrom = textIn(meta, 'envelopeFrom');
  const envelopeTo = recipientsIn(meta);
  const addresses = (name: string) => addressesShown(headers.all(name).join(', '));
  return {
    from: addresses('from') || envelopeFrom,
    to: addresses('to') || shownText(envelopeTo.join(', ')),
    subject: shownText(decodeWords((headers.first('subject') ?? '').slice(0, MAX_ENCODED_CHARS))),
    more: [envelopeFrom, ...envelopeTo, addresses('cc'), addresses('reply-to')]
      .filter((text) => text !== '')
      .join(' ')
      .slice(0, MAX_MORE_CHARS),
  };
}

function recipientsIn({ envelopeTo }: EntryMeta): string[] {
  if (!Array.isArray(envelopeTo)) return [];
  return envelopeTo.filter((one) => typeof one === 'string').slice(0, MAX_RECIPIENTS);
}

/** A list of mailboxes for display: names without quotes. */
function addressesShown(raw: string): string {
  if (raw === '') return '';
  const bounded = raw.slice(0, MAX_ENCODED_CHARS);
  const unquoted = bounded.includes('"') ? bounded.replace(/"((?:[^"\\]|\\.)*)"/g, '$1') : bounded;
  return shownText(decodeWords(unquoted));
}
