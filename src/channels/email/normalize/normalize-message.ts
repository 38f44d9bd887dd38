import { NO_TEXT } from '../../../domain/no-text.ts';
import { stat } from 'node:fs/promises';
import { type HeaderBlock, HeaderCollector, parseHeaderBlock } from '../header-block.ts';
import type { TrimDecision } from '../../../domain/email-reading.ts';
import type { Verdict } from '../../../intake/normalizer.ts';
import { withoutPass } from '../authentication/verdict.ts';
import {
  attachedFiles,
  inlineImages,
  MAX_ATTACHMENTS,
  rawFile,
  stubText,
  toAttachedFile,
} from './parts/attached-files.ts';
import { type BodyContent, type BodyOptions, readBody } from './body/body-content.ts';
import { statedCharset } from './body/charset.ts';
import { bounceEvents, complaintEvents } from './head/mail-events.ts';
import { type Alternative, sortParts } from './parts/body-parts.ts';
import { readBounceReport } from './reports/bounce-report.ts';
import { readComplaint } from './reports/feedback.ts';
import type { ReportPart } from './reports/report-parts.ts';
import { fitContent, MAX_CONTENT_LENGTH } from './body/content-limits.ts';
import { notesBelow, readCalendars, withParagraphs } from './calendars.ts';
import { bodyKey, type MessageHead, messageKey, readHead } from './head/message-head.ts';
import type { AttachedFile, EmailJob, EmailResult } from './job.ts';
import type { RawSource } from '../stored.ts';
import { isForwardSubject } from './head/subjects.ts';
import { answeredIds, messageIdHost, readThreading } from './head/header-values.ts';
import { gmailPart, reactionBody } from './reactions.ts';
import { liftDataPictures } from './parts/data-pictures.ts';
import { type OpenedParts, openParts } from './parts/open-parts.ts';
import { readFileParts } from './parts/read-file-parts.ts';
import { type Leaf, type Part, type ReadParts, readParts } from './parts/read-parts.ts';
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
  return (await readEmail(job, context)).result;
}

/** What a message was read as, and what that was made of. */
export interface ReadEmail {
  readonly result: EmailResult;
  readonly head: HeaderBlock;
  readonly root: Part | undefined;
  readonly body: BodyContent;
  /** The leaves that are attached, each with its file at the same index. */
  readonly attachments: readonly Leaf[];
  readonly files: readonly AttachedFile[];
  /** Why quotes are looked for, or not. */
  readonly trims: TrimDecision;
}

/**
 * The same with how it was read, for `explainEmail`.
 * @throws as `normalizeMessage`
 */
export async function readEmail(job: EmailJob, context: NormalizeContext): Promise<ReadEmail> {
  const scratch = new ScratchFolder(job.scratch);
  const { head, parts, size } = await readMessage(job.raw, scratch, context.maxBufferBytes);
  const opened = await openParts(parts, scratch);
  const recovered = [...new Set([...parts.recoveries, ...opened.recoveries])];
  const reportParts = parts.leaves.map(toReportPart);
  const checked = recovered.length > 0 ? unverified(job) : job;
  const message = readHead(head, checked, context.shop, reportParts);
  const reported = withReportEvents(message, head, reportParts, job, context.shop);
  const freeIndex = () => 1 + Math.max(...opened.leaves.map(({ index }) => index));
  const sorted = await liftDataPictures(sortParts(opened.root, opened.leaves), freeIndex, scratch);
  const { alternatives } = sorted;
  const reaction = gmailPart(opened.leaves);
  const { attachments, notes } = readCalendars(
    sorted.attachments.filter((leaf) => leaf !== reaction),
  );
  const files = await attachedFiles(attachments, job.imageBase);
  const trims = await trimsQuotes(head, message.subject, context);
  const read = readShownBody(alternatives, {
    mode: context.shop.body,
    trim: TRIMMING.has(trims),
    inlineImage: inlineImages(attachments, files),
    hasInlineImages: attachments.some(({ contentId }) => contentId !== undefined),
  });
  const reacted = reactionBody(read, reaction);
  const body = reacted ?? read;
  const cut = await Promise.all(body.cut.map(wholeBody));
  const broken = parts.broken || isMisread(head, parts, size);
  const isGuess = recovered.includes('no_type');
  const added = notes.length === 0 ? [] : notesBelow(`${body.asText()}\n${body.trimmed}`, notes);
  const text = withParagraphs(body.text, body.format, added);
  const fitted = fitContent({
    text: broken ? withNote(text, message.subject) : text,
    format: body.format,
    asText: () => withParagraphs(body.asText(), 'TEXT', added),
    empty: placeholder(opened),
    files: [...(broken || isGuess ? [rawFile(message.subject, size)] : []), ...cut, ...files],
    wholeTextAttached: cut.some(({ name }) => name === 'message.txt'),
    maxFiles: MAX_ATTACHMENTS,
  });
  const result: EmailResult = {
    verdict: reported.verdict,
    request: message.request(fitted.content, fitted.format),
    ...counted(message, head, job, bodyKey(withoutBase(fitted.content, job), fitted.files)),
    confirmation: message.confirmation,
    files: fitted.files,
    findings: {
      body: body.source,
      attachments: fitted.files.length,
      ...(body.trimmedLines > 0 && { trimmedLines: body.trimmedLines }),
      ...(sorted.passedOver.length > 0 && { otherForms: sorted.passedOver.length }),
      ...(fitted.leftOut > 0 && { attachmentsLeftOut: fitted.leftOut }),
      ...(fitted.moved && { longText: true }),
      ...(reacted && { reaction: true }),
      ...(broken && { brokenMime: true }),
      ...(message.copiesLeftOut > 0 && { copiesLeftOut: message.copiesLeftOut }),
      ...(reported.delayed && { bounce: 'delayed' }),
      ...(recovered.length > 0 && { recovered: recovered.join(' ') }),
    },
    ...(body.trimmed !== '' && { trimmed: body.trimmed }),
    usedScratch: scratch.used,
  };
  return { result, head, root: opened.root, body, attachments, files, trims };
}

/**
 * A fault in the structure can make another text of a signed one, since readers differ: a prepended
 * Content-Type leaves DKIM valid.
 */
function unverified(job: EmailJob): EmailJob {
  const { authentication, ...rest } = job;
  if (authentication === undefined) return job;
  return { ...rest, authentication: withoutPass(authentication) };
}

function toReportPart({ contentType, parameters, fileName, content }: Leaf): ReportPart {
  return { contentType, parameters, fileName, start: content.start };
}

/** Adds to a suppressed report the events on the contacts that it is about. */
function withReportEvents(
  { verdict, subject }: MessageHead,
  head: HeaderBlock,
  parts: readonly ReportPart[],
  { receivedAt }: EmailJob,
  { own }: ShopMail,
): { readonly verdict: Verdict; readonly delayed: boolean } {
  if (verdict.kind === 'suppressed' && verdict.reason.code === 'bounce') {
    const report = readBounceReport({ head, subject, parts }, own);
    const events = bounceEvents(report, own, receivedAt);
    return { verdict: { ...verdict, events }, delayed: report.delayed };
  }
  if (verdict.kind === 'suppressed' && verdict.reason.code === 'complaint') {
    const events = complaintEvents(readComplaint(parts, own), receivedAt);
    return { verdict: { ...verdict, events }, delayed: false };
  }
  return { verdict, delayed: false };
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
  return sealed ? '(signed message; its content is attached)' : NO_TEXT;
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
    return { head: parseHeaderBlock(raw.bytes, charsetOf(parts)), parts, size: raw.bytes.length };
  }
  const { path } = raw;
  const collector = new HeaderCollector();
  const observe = (chunk: Uint8Array) => void collector.push(chunk);
  const parts = await readFileParts({ path, observe, maxBufferBytes }, scratch);
  return { head: collector.finish(charsetOf(parts)), parts, size: (await stat(path)).size };
}

/** What the first text states that states any: raw header fields are written in it as well. */
function charsetOf({ leaves }: ReadParts): string | undefined {
  for (const { contentType, parameters, content } of leaves) {
    if (!contentType.startsWith('text/')) continue;
    const isHtml = contentType === 'text/html';
    const stated = statedCharset(content.start, parameters['charset'], isHtml);
    if (stated !== undefined) return stated;
  }
  return undefined;
}

const TRIMMING: ReadonlySet<TrimDecision> = new Set<TrimDecision>(['always', 'reply']);

/** Only for a reply to a message that the platform knows, and never for a forward. */
async function trimsQuotes(
  head: HeaderBlock,
  subject: string | undefined,
  context: NormalizeContext,
): Promise<TrimDecision> {
  const { shop } = context;
  if (shop.quotes === 'never') return 'configured';
  if (isForwardSubject(subject)) return 'forward';
  if (shop.quotes === 'always') return 'always';
  const ids = answeredIds(readThreading(head));
  if (ids.length === 0) return 'no_reply';
  const isOurs = ids.some((id) => shop.replyDomains.has(messageIdHost(id)));
  return isOurs || (await context.isKnown(ids)) ? 'reply' : 'unknown_reply';
}

/** A body that was too long to be read completely is attached unchanged. */
async function wholeBody(leaf: Leaf): Promise<AttachedFile> {
  const file = await toAttachedFile(leaf);
  return { ...file, name: leaf.contentType === 'text/html' ? 'message.html' : 'message.txt' };
}
