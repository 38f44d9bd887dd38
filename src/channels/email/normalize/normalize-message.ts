import { stat } from 'node:fs/promises';
import { type HeaderBlock, HeaderCollector, parseHeaderBlock } from '../header-block.ts';
import type { Verdict } from '../../../intake/normalizer.ts';
import {
  attachedFiles,
  inlineImages,
  MAX_ATTACHMENTS,
  rawFile,
  stubText,
  toAttachedFile,
} from './parts/attached-files.ts';
import { type BodyContent, type BodyOptions, readBody } from './body/body-content.ts';
import { bounceEvents, readBounceReport } from './head/mail-events.ts';
import { type Alternative, sortParts } from './parts/body-parts.ts';
import { fitContent, MAX_CONTENT_LENGTH } from './body/content-limits.ts';
import { readCalendars, withLines } from './calendars.ts';
import { bodyKey, type MessageHead, messageKey, readHead } from './head/message-head.ts';
import type { AttachedFile, EmailJob, EmailResult } from './job.ts';
import type { RawSource } from '../stored.ts';
import { isForwardSubject } from './head/subjects.ts';
import { answeredIds, messageIdHost, readThreading } from './head/header-values.ts';
import { type OpenedParts, openParts } from './parts/open-parts.ts';
import { readFileParts } from './parts/read-file-parts.ts';
import { type Leaf, type ReadParts, readParts } from './parts/read-parts.ts';
import { ScratchFolder } from './parts/collect-part.ts';
import type { ShopMail } from '../shop.ts';

/** A body of this size contains only line ends. */
const LINE_ENDS = 8;
const PARTLY_READ = '(part of the message could not be read; the original is attached)';

export interface NormalizeContext {
  readonly shop: ShopMail;
  /** Whether one of these message-ids has passed through here. */
  isKnown(ids: readonly string[]): Promise<boolean>;
  /** The limit for array buffers in this thread. */
  readonly maxBufferBytes: number;
}

/**
 * Turns one email into a create-message request and its files.
 * @throws the errors of reading the raw form or writing scratch files
 * @throws {MemoryExceeded} this thread's memory limit is exceeded
 */
export async function normalizeMessage(
  job: EmailJob,
  context: NormalizeContext,
): Promise<EmailResult> {
  const scratch = new ScratchFolder(job.scratch);
  const { head, parts, size } = await readMessage(job.raw, scratch, context.maxBufferBytes);
  const message = readHead(head, job, context.shop);
  const opened = await openParts(parts, scratch);
  const sorted = sortParts(opened.root, opened.leaves);
  const { alternatives } = sorted;
  const { attachments, lines } = readCalendars(sorted.attachments);
  const files = await attachedFiles(attachments, job.imageBase);
  const trim = await trimsQuotes(head, message.subject, context);
  const body = readShownBody(alternatives, {
    mode: context.shop.body,
    trim,
    inlineImage: inlineImages(attachments, files),
  });
  const cut = await Promise.all(body.cut.map(wholeBody));
  const broken = parts.broken || isMisread(head, parts, size);
  const text = withLines(body.text, body.format, lines);
  const fitted = fitContent({
    text: broken ? withNote(text, message.subject) : text,
    format: body.format,
    asText: () => withLines(body.asText(), 'TEXT', lines),
    empty: placeholder(opened),
    files: [...(broken ? [rawFile(message.subject, size)] : []), ...cut, ...files],
    wholeTextAttached: cut.some(({ name }) => name === 'message.txt'),
    maxFiles: MAX_ATTACHMENTS,
  });
  return {
    verdict: withBounceEvents(message, head, parts, job.receivedAt, context.shop),
    request: message.request(fitted.content, fitted.format),
    ...counted(message, head, job, bodyKey(withoutBase(fitted.content, job), fitted.files)),
    files: fitted.files,
    findings: {
      body: body.source,
      attachments: fitted.files.length,
      ...(body.trimmedLines > 0 && { trimmedLines: body.trimmedLines }),
      ...(fitted.leftOut > 0 && { attachmentsLeftOut: fitted.leftOut }),
      ...(fitted.moved && { longText: true }),
      ...(broken && { brokenMime: true }),
    },
    ...(body.trimmed !== '' && { trimmed: body.trimmed }),
    usedScratch: scratch.used,
  };
}

function withBounceEvents(
  { verdict }: MessageHead,
  head: HeaderBlock,
  { leaves }: ReadParts,
  at: number,
  { own }: ShopMail,
): Verdict {
  if (verdict.kind !== 'suppressed' || verdict.reason.code !== 'bounce') return verdict;
  const parts = leaves.map(({ contentType, content }) => ({ contentType, start: content.start }));
  return { ...verdict, events: bounceEvents(readBounceReport(head, parts), own, at) };
}

/** Removes the image base, which differs between messages with the same content. */
function withoutBase(content: string, { imageBase }: EmailJob): string {
  return imageBase === undefined ? content : content.replaceAll(imageBase, '');
}

/** A text that becomes a file shows no images, because their addresses are not replaced there. */
function readShownBody(alternatives: readonly Alternative[], options: BodyOptions): BodyContent {
  const body = readBody(alternatives, options);
  if (body.text.length < MAX_CONTENT_LENGTH / 2) return body;
  const inlineImage = (contentId: string) => {
    const image = options.inlineImage(contentId);
    return image === undefined ? undefined : { name: image.name };
  };
  return readBody(alternatives, { ...options, inlineImage });
}

function counted(
  message: MessageHead,
  head: HeaderBlock,
  { meta }: EmailJob,
  body: string,
): Pick<EmailResult, 'counted'> {
  if (message.counted === undefined) return {};
  const key = messageKey(head, meta, body);
  return { counted: { ...message.counted, body, ...(key !== undefined && { message: key }) } };
}

/** Whether no part was found: a multipart without parts, or a text without a header. */
function isMisread(head: HeaderBlock, { leaves }: ReadParts, size: number): boolean {
  const headless = ['from', 'to', 'subject', 'date'].every((name) => head.count(name) === 0);
  const bodyBytes = headless ? size : size - head.byteLength;
  return bodyBytes > LINE_ENDS && leaves.every(({ content }) => content.size === 0);
}

function placeholder({ encrypted, sealed }: OpenedParts): string {
  if (encrypted) return '(encrypted message)';
  return sealed ? '(signed message; its content is attached)' : '(no text)';
}

function withNote(text: string, subject: string | undefined): string {
  if (text.trim() !== '') return `${text}\n\n${PARTLY_READ}`;
  return stubText(subject);
}

interface ReadMessage {
  readonly head: HeaderBlock;
  readonly parts: ReadParts;
  readonly size: number;
}

async function readMessage(
  raw: RawSource,
  scratch: ScratchFolder,
  maxBufferBytes: number,
): Promise<ReadMessage> {
  if (raw.kind === 'bytes') {
    const parts = await readParts(raw.bytes, scratch);
    return { head: parseHeaderBlock(raw.bytes), parts, size: raw.bytes.length };
  }
  const { path } = raw;
  const collector = new HeaderCollector();
  const observe = (chunk: Uint8Array) => void collector.push(chunk);
  const parts = await readFileParts({ path, observe, maxBufferBytes }, scratch);
  return { head: collector.finish(), parts, size: (await stat(path)).size };
}

/** Only for a reply to a message that the platform knows, and never for a forward. */
async function trimsQuotes(
  head: HeaderBlock,
  subject: string | undefined,
  context: NormalizeContext,
): Promise<boolean> {
  const { shop } = context;
  if (shop.quotes === 'never' || isForwardSubject(subject)) return false;
  if (shop.quotes === 'always') return true;
  const ids = answeredIds(readThreading(head));
  if (ids.length === 0) return false;
  return ids.some((id) => shop.replyDomains.has(messageIdHost(id))) || (await context.isKnown(ids));
}

/** A body that was too long to be read completely is attached unchanged. */
async function wholeBody(leaf: Leaf): Promise<AttachedFile> {
  const file = await toAttachedFile(leaf);
  return { ...file, name: leaf.contentType === 'text/html' ? 'message.html' : 'message.txt' };
}
