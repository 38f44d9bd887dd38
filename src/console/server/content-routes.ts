import { access } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Response, type Router } from 'express';
import { z } from 'zod';
import { create as contentDisposition } from 'content-disposition';
import { type Attachment, AttachmentLate, AttachmentUnavailable } from '../../intake/normalizer.ts';
import type { Entry, RawForm } from '../../spool/entry.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import type { Spool } from '../../spool/spool.ts';
import type { EntryContent } from '../contract.ts';
import type { Audit } from './audit.ts';
import { checked, Refusal } from './refusal.ts';
import { entryOf } from './entry-routes.ts';
import { visitorOf } from './sign-in.ts';

const MAX_RAW_TEXT = 256 * 1024;
/** Of what was taken away; the rest is in the raw form. */
const MAX_TRIMMED = 256 * 1024;
const READ_MS = 25_000;
/** A large attachment may have to be fetched first. */
const OPEN_MS = 60_000;
/** A client that stops reading must not keep a file and a connection open for ever. */
const DOWNLOAD_MS = 10 * 60_000;
const NOTHING = { attachments: [] };
/** What a browser may do with a downloaded file, if it should show it after all: nothing. */
const SEALED = "sandbox; default-src 'none'; frame-ancestors 'none'";
/** The frame of the message page, which has no rights of its own and may load nothing. */
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

/** What was received and what became of it: each opening is a line of the audit. */
export function contentRoutes(parts: ContentRouteParts): Router {
  const router = express.Router();
  const { spool, audit } = parts;

  router.get('/entries/:id/content', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const who = visitorOf(res).operator;
    await audit.write({ who, action: 'open', target: entry.id });
    res.json(await contentOf(entry, parts));
  });

  router.get('/entries/:id/raw', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const raw = await rawOf(entry, spool);
    const who = visitorOf(res).operator;
    await audit.write({ who, action: 'download', target: entry.id });
    const isMail = entry.channel === 'email' && entry.kind === 'message';
    await send(res, {
      name: `${entry.id}.${isMail ? 'eml' : 'txt'}`,
      type: isMail ? 'message/rfc822' : 'text/plain; charset=utf-8',
      size: raw.kind === 'inline' ? raw.bytes.byteLength : raw.size,
      stream: () => streamOf(raw, spool),
    });
  });

  router.get('/entries/:id/html', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const raw = await rawOf(entry, spool);
    const who = visitorOf(res).operator;
    await audit.write({ who, action: 'open', target: entry.id });
    const html = await readable(() => parts.contents.html(entry, raw));
    if (html === undefined) throw new Refusal('not_found', 'There is no HTML in it');
    res.set({
      'Content-Security-Policy': DOCUMENT_POLICY,
      'X-Frame-Options': 'SAMEORIGIN',
      'Content-Type': 'text/html; charset=utf-8',
    });
    res.end(html);
  });

  router.get('/entries/:id/attachments/:part', async (req, res) => {
    const entry = await entryOf(req.params.id, spool);
    const part = checked(partSchema, req.params.part);
    const raw = await rawOf(entry, spool);
    const who = visitorOf(res).operator;
    await audit.write({ who, action: 'download', target: entry.id });
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
    const { request, trimmed, attachments } = record ?? { request: undefined, ...NOTHING };
    return {
      received: { hasHtml: false },
      ...(request !== undefined && { payload: request }),
      ...(trimmed !== undefined && { trimmed: trimmed.slice(0, MAX_TRIMMED) }),
      attachments,
    };
  }
  const head = await headOf(raw, spool);
  const [received, made] = await Promise.all([
    // A message that cannot be parsed is still shown in its raw form.
    orNothing(contents.received(entry, raw), { hasHtml: false }),
    record ?? orNothing(madeOf(entry, raw, contents), NOTHING),
  ]);
  const { request, trimmed, attachments } = { request: undefined, trimmed: undefined, ...made };
  return {
    raw: {
      ...contents.rawText(entry, head),
      truncated: head.byteLength < (raw.kind === 'inline' ? raw.bytes.byteLength : raw.size),
    },
    received,
    ...(request !== undefined && { payload: request }),
    ...(trimmed !== undefined && { trimmed: trimmed.slice(0, MAX_TRIMMED) }),
    attachments,
  };
}

type Made = Pick<EntryContent, 'trimmed' | 'attachments'> & { readonly request: unknown };

/** The request that the next attempt would send. */
async function madeOf(entry: Entry, raw: RawForm, contents: EntryContents): Promise<Made> {
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
  if (attachment === undefined) throw new Refusal('not_found', 'There is no such attachment');
  try {
    const opened = await attachment.open(AbortSignal.timeout(OPEN_MS));
    const { name, size } = opened;
    // Whatever it says it is: a type that no browser shows.
    const type = 'application/octet-stream';
    await send(res, { name, type, size, stream: () => opened.stream() });
  } catch (error) {
    if (error instanceof AttachmentUnavailable) {
      throw new Refusal('not_found', 'The attachment cannot be had any more', { cause: error });
    }
    if (error instanceof AttachmentLate) {
      throw new Refusal('unavailable', 'It is not there yet', { retryAfter: 60, cause: error });
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

async function send(res: Response, { name, type, size, stream }: Download): Promise<void> {
  res.set({
    'Content-Type': type,
    'Content-Length': String(size),
    'Content-Disposition': asDownload(name),
    'Content-Security-Policy': SEALED,
  });
  if (res.req.method === 'HEAD') {
    res.end();
    return;
  }
  // The client would read bytes beyond Content-Length as the next response.
  res.strictContentLength = true;
  const deadline = setTimeout(() => res.destroy(), DOWNLOAD_MS);
  try {
    await pipeline(stream(), res);
  } catch (error) {
    // Whoever asked has gone, or is told by a connection that breaks off before the end.
    if (!res.headersSent) throw error;
    res.destroy();
  } finally {
    clearTimeout(deadline);
  }
}

/** Undefined also when its file is missing, which the spool reports itself. */
async function keptRaw(
  { id }: Entry,
  spool: Pick<Spool, 'raw' | 'blobs'>,
): Promise<RawForm | undefined> {
  const kept = await spool.raw(id);
  if (kept?.kind !== 'file') return kept;
  return access(spool.blobs.path(kept.blob)).then(
    () => kept,
    () => undefined,
  );
}

async function rawOf(entry: Entry, spool: Pick<Spool, 'raw' | 'blobs'>): Promise<RawForm> {
  const raw = await keptRaw(entry, spool);
  if (raw === undefined) throw new Refusal('not_found', 'What was received is no longer kept');
  return raw;
}

function streamOf(raw: RawForm, { blobs }: Pick<Spool, 'blobs'>): Readable {
  if (raw.kind === 'file') return blobs.read(raw.blob);
  return Readable.from([Buffer.from(raw.bytes)], { objectMode: false });
}

async function headOf(raw: RawForm, spool: Pick<Spool, 'blobs'>): Promise<Uint8Array> {
  if (raw.kind === 'inline') return raw.bytes.subarray(0, MAX_RAW_TEXT);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of spool.blobs.read(raw.blob) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_RAW_TEXT) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_RAW_TEXT);
}

async function orNothing<Found, Instead>(
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
    throw new Refusal('unavailable', `It cannot be shown: ${error.message}`, { cause: error });
  }
}

/** What operators may read of an entry, provided by each channel. */
export interface EntryContents {
  /**
   * The head of the raw form as text for people, and the kind of thing it is.
   * @param head its first bytes
   */
  rawText(entry: Entry, head: Uint8Array): { readonly text: string; readonly type: string };
  /** @throws {NotReadable} */
  received(
    entry: Entry,
    raw: RawForm,
  ): Promise<{ readonly text?: string; readonly hasHtml: boolean }>;
  /** A document that loads nothing; undefined when there is no HTML. @throws {NotReadable} */
  html(entry: Entry, raw: RawForm): Promise<string | undefined>;
  /** What would be submitted now. `dispose` it. @throws {NotReadable} */
  prepared(entry: Entry, raw: RawForm, signal: AbortSignal): Promise<Prepared>;
}

interface Prepared {
  readonly request: unknown;
  readonly trimmed?: string;
  readonly attachments: readonly Attachment[];
  dispose(): Promise<void>;
}

/** It cannot be shown: it cannot be read, or not in time, or its shop is not configured. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

const MAX_LENGTH = 150;
/** Steps of a path, controls, halves of a character, and what turns the direction of writing. */
const MISLEADING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]/gu;

/**
 * `Content-Disposition` of a file that a stranger has named (RFC 6266 §4.3: the name may lie). The
 * end of a long name stays: it says what kind of file it is.
 */
export function asDownload(name: string): string {
  const safe = name.slice(-MAX_LENGTH).replace(MISLEADING, '_');
  return contentDisposition(safe === '' ? undefined : safe, { type: 'attachment' });
}
