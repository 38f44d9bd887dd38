import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import express, { type Response, type Router } from 'express';
import { z } from 'zod';
import { create as contentDisposition } from 'content-disposition';
import { type Attachment, AttachmentLate, AttachmentUnavailable } from '../../intake/normalizer.ts';
import { type EmailReading, inWords } from '../../domain/email-reading.ts';
import type { Entry, RawForm } from '../../spool/entry.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import type { Spool } from '../../spool/spool.ts';
import type { EntryContent, EntryReading } from '../contract.ts';
import type { Audit } from './audit.ts';
import { checked, Refusal } from './refusal.ts';
import { entryOf } from './entry-routes.ts';
import { actorOf } from './sign-in.ts';

const MAX_RAW_TEXT = 256 * 1024;
/** Limit of the trimmed text; the raw form has all of it. */
const MAX_TRIMMED = 256 * 1024;
const READ_MS = 25_000;
/** Attachments may have to be fetched first. */
const OPEN_MS = 60_000;
/** Limits how long a stalled client can hold a file and a connection open. */
const DOWNLOAD_MS = 10 * 60_000;
const NO_CONTENT: PreparedContent = { request: undefined, attachments: [] };
/** The policy of downloads: no permissions, in case a browser renders one. */
const DOWNLOAD_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'";
/** The policy of HTML in the message page's frame: no permissions, no external resources. */
const DOCUMENT_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

const partSchema = z.string().min(1).max(300);

interface ContentRouteParts {
  readonly spool: Pick<Spool, 'get' | 'raw' | 'blobs'>;
  readonly operator: Pick<OperatorStore, 'record'>;
  readonly contents: EntryContents;
  readonly audit: Audit;
}

/** The received and submitted content. Every access is recorded in the audit log. */
export function contentRoutes(parts: ContentRouteParts): Router {
  const router = express.Router();
  const { spool, audit } = parts;
  const record = (res: Response, action: 'open' | 'download', { id }: Entry): Promise<void> =>
    audit.write({ ...actorOf(res), action, target: id });

  router.get('/entries/:id/content', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    await record(res, 'open', entry);
    res.json(await contentOf(entry, parts));
  });

  router.get('/entries/:id/raw', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const raw = await rawOf(entry, spool);
    await record(res, 'download', entry);
    const isMail = entry.channel === 'email' && entry.kind === 'message';
    await sendDownload(res, {
      name: `${entry.id}.${isMail ? 'eml' : 'txt'}`,
      type: isMail ? 'message/rfc822' : 'text/plain; charset=utf-8',
      size: raw.kind === 'inline' ? raw.bytes.byteLength : raw.size,
      stream: () => streamOf(raw, spool),
    });
  });

  router.get('/entries/:id/html', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const raw = await rawOf(entry, spool);
    await record(res, 'open', entry);
    const html = await readable(() => parts.contents.html(entry, raw));
    if (html === undefined) throw new Refusal('not_found', 'The message has no HTML');
    res.set({
      'Content-Security-Policy': DOCUMENT_POLICY,
      'X-Frame-Options': 'SAMEORIGIN',
      'Content-Type': 'text/html; charset=utf-8',
    });
    res.end(html);
  });

  router.get('/entries/:id/reading', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const raw = await rawOf(entry, spool);
    await record(res, 'open', entry);
    const signal = AbortSignal.timeout(READ_MS);
    const reading = await readable(() => parts.contents.reading(entry, raw, signal));
    if (reading === undefined) throw new Refusal('not_found', 'Only emails are explained');
    res.json(inWords(reading) satisfies EntryReading);
  });

  router.get('/entries/:id/attachments/:part', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const part = checked(partSchema, req.params.part);
    const raw = await rawOf(entry, spool);
    await record(res, 'download', entry);
    const prepared = await readable(() =>
      parts.contents.prepared(entry, raw, AbortSignal.timeout(READ_MS)),
    );
    try {
      await sendAttachment(res, prepared, part);
    } finally {
      await prepared.dispose();
    }
  });
  return router;
}

async function contentOf(entry: Entry, parts: ContentRouteParts): Promise<EntryContent> {
  const { spool, operator, contents } = parts;
  const [raw, record] = await Promise.all([keptRaw(entry, spool), operator.record(entry.id)]);
  if (raw === undefined) {
    return { received: { hasHtml: false }, ...submittedContent(record ?? NO_CONTENT) };
  }
  const head = await headOf(raw, spool);
  const [received, made] = await Promise.all([
    // A message that cannot be parsed is shown in its raw form.
    orFallback(contents.received(entry, raw), { hasHtml: false }),
    record ?? orFallback(preparedContent(entry, raw, contents), NO_CONTENT),
  ]);
  return {
    raw: {
      ...contents.rawText(entry, head),
      truncated: head.byteLength < (raw.kind === 'inline' ? raw.bytes.byteLength : raw.size),
    },
    received,
    ...submittedContent(made),
  };
}

const submittedContent = ({ request, trimmed, attachments }: PreparedContent) => ({
  ...(request !== undefined && { payload: request }),
  ...(trimmed !== undefined && { trimmed: trimmed.slice(0, MAX_TRIMMED) }),
  attachments,
});

type PreparedContent = Pick<EntryContent, 'trimmed' | 'attachments'> & {
  readonly request: unknown;
};

/** The request that the next attempt would submit. */
async function preparedContent(
  entry: Entry,
  raw: RawForm,
  contents: EntryContents,
): Promise<PreparedContent> {
  const prepared = await contents.prepared(entry, raw, AbortSignal.timeout(READ_MS));
  try {
    const { request, trimmed, attachments } = prepared;
    return {
      request,
      ...(trimmed !== undefined && { trimmed }),
      attachments: attachments.map(({ part, about }) => ({
        part,
        name: about?.name ?? part,
        type: about?.type ?? 'application/octet-stream',
        bytes: about?.size ?? 0,
      })),
    };
  } finally {
    await prepared.dispose();
  }
}

async function sendAttachment(res: Response, prepared: Prepared, part: string): Promise<void> {
  const attachment = prepared.attachments.find((each) => each.part === part);
  if (attachment === undefined) throw new Refusal('not_found', 'Attachment not found');
  try {
    const opened = await attachment.open(AbortSignal.timeout(OPEN_MS));
    const { name, size } = opened;
    // Regardless of its declared type: browsers do not render this type.
    const type = 'application/octet-stream';
    await sendDownload(res, { name, type, size, stream: () => opened.stream() });
  } catch (error) {
    if (error instanceof AttachmentUnavailable) {
      throw new Refusal('not_found', 'The attachment is no longer available', { cause: error });
    }
    if (error instanceof AttachmentLate) {
      throw new Refusal('unavailable', 'The attachment is not available yet', {
        retryAfter: 60,
        cause: error,
      });
    }
    throw error;
  }
}

interface Download {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly stream: () => Readable;
}

/** Sends a file as a download, never shown by the browser. */
export async function sendDownload(
  res: Response,
  { name, type, size, stream }: Download,
): Promise<void> {
  res.set({
    'Content-Type': type,
    'Content-Length': String(size),
    'Content-Disposition': attachmentDisposition(name),
    'Content-Security-Policy': DOWNLOAD_POLICY,
  });
  if (res.req.method === 'HEAD') {
    res.end();
    return;
  }
  // Bytes beyond Content-Length would be read as the next response.
  res.strictContentLength = true;
  const deadline = setTimeout(() => res.destroy(), DOWNLOAD_MS);
  try {
    await pipeline(stream(), res);
  } catch (error) {
    // The client has disconnected, or detects the failure from the incomplete response.
    if (!res.headersSent) throw error;
    res.destroy();
  } finally {
    clearTimeout(deadline);
  }
}

/**
 * Undefined when the raw form was deleted, or when its file is missing, which the spool reports.
 */
async function keptRaw(
  { id }: Entry,
  spool: Pick<Spool, 'raw' | 'blobs'>,
): Promise<RawForm | undefined> {
  const kept = await spool.raw(id);
  if (kept?.kind !== 'file') return kept;
  return (await spool.blobs.exists(kept.blob)) ? kept : undefined;
}

async function rawOf(entry: Entry, spool: Pick<Spool, 'raw' | 'blobs'>): Promise<RawForm> {
  const raw = await keptRaw(entry, spool);
  if (raw === undefined)
    throw new Refusal('not_found', 'The original has been deleted (spool.retain.raw)');
  return raw;
}

function streamOf(raw: RawForm, { blobs }: Pick<Spool, 'blobs'>): Readable {
  if (raw.kind === 'file') return blobs.read(raw.blob);
  return Readable.from([Buffer.from(raw.bytes)], { objectMode: false });
}

async function headOf(raw: RawForm, spool: Pick<Spool, 'blobs'>): Promise<Uint8Array> {
  if (raw.kind === 'inline') return raw.bytes.subarray(0, MAX_RAW_TEXT);
  return buffer(spool.blobs.read(raw.blob, MAX_RAW_TEXT));
}

async function orFallback<Found, Instead>(
  reading: Promise<Found>,
  instead: Instead,
): Promise<Found | Instead> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotReadable) return instead;
    throw error;
  }
}

async function readable<Found>(read: () => Promise<Found>): Promise<Found> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error;
    throw new Refusal('unavailable', `The content cannot be shown: ${error.message}`, {
      cause: error,
    });
  }
}

/** The readable content of an entry, provided by each channel. */
export interface EntryContents {
  /**
   * The beginning of the raw form as text, and its type.
   * @param head the first bytes
   */
  rawText(entry: Entry, head: Uint8Array): { readonly text: string; readonly type: string };
  /** @throws {NotReadable} */
  received(
    entry: Entry,
    raw: RawForm,
  ): Promise<{ readonly text?: string; readonly hasHtml: boolean }>;
  /**
   * A document without external resources; undefined when there is no HTML. @throws {NotReadable}
   */
  html(entry: Entry, raw: RawForm): Promise<string | undefined>;
  /** How an email is read; undefined for other entries. @throws {NotReadable} */
  reading(entry: Entry, raw: RawForm, signal: AbortSignal): Promise<EmailReading | undefined>;
  /**
   * The content that the next attempt would submit. Call `dispose` when done. @throws {NotReadable}
   */
  prepared(entry: Entry, raw: RawForm, signal: AbortSignal): Promise<Prepared>;
}

interface Prepared {
  readonly request: unknown;
  readonly trimmed?: string;
  readonly attachments: readonly Attachment[];
  dispose(): Promise<void>;
}

/** The content cannot be read, not in time, or its shop is not configured. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

const MAX_LENGTH = 150;
/**
 * Path separators, control characters, lone surrogates, and characters that change the direction of
 * text.
 */
const MISLEADING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]/gu;

/**
 * `Content-Disposition` of a file whose name comes from the sender (RFC 6266 §4.3). A long name
 * keeps its end, which has the extension.
 */
export function attachmentDisposition(name: string): string {
  const safe = name.slice(-MAX_LENGTH).replace(MISLEADING, '_');
  return contentDisposition(safe === '' ? undefined : safe, { type: 'attachment' });
}
