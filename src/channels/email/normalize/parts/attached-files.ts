import libmime from 'libmime';
import { parseHeaderBlock } from '../../header-block.ts';
import type { AttachedFile } from '../job.ts';
import { decodeParameter } from '../head/encoded-words.ts';
import { readSubject } from '../head/header-values.ts';
import { sortParts } from './body-parts.ts';
import type { ScratchFolder } from './collect-part.ts';
import { type Leaf, readParts } from './read-parts.ts';
import { signatureOf } from '../../../../runtime/file-kind.ts';
import { cleanLine, cutText } from '../../../../runtime/clean-text.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';

/** The platform gets at most this many files with one message. */
export const MAX_ATTACHMENTS = 50;

/**
 * The attachments of a message; each image with the placeholder of its address if images are shown.
 */
export async function attachedFiles(
  leaves: readonly Leaf[],
  imageBase: string | undefined,
): Promise<readonly AttachedFile[]> {
  const files = await Promise.all(leaves.map(toAttachedFile));
  if (imageBase === undefined) return files;
  return files.map((file, index) =>
    file.type.startsWith('image/') ? { ...file, shownAs: `${imageBase}${index}/` } : file,
  );
}

/** An attachment of the message; `part` is the same in every attempt for the same content. */
export async function toAttachedFile(leaf: Leaf): Promise<AttachedFile> {
  const type = await typeOf(leaf);
  const { content, index, sha256 } = leaf;
  return {
    part: `${index}:${sha256.slice(0, 16)}`,
    name: safeFileName(nameOf(leaf), type, `attachment-${index + 1}`),
    type: type.mime,
    size: content.size,
    source: content.content,
  };
}

/**
 * The attachments of a message that need not be read for its text.
 * @param source opens the raw message, once for each reading
 * @throws the errors of reading the source or writing scratch files
 */
export async function readAttachments(
  source: () => AsyncIterable<Uint8Array>,
  scratch: ScratchFolder,
): Promise<readonly AttachedFile[]> {
  const { root, leaves } = await readParts(source, scratch);
  return attachedFiles(sortParts(root, leaves).attachments, undefined);
}

/** The message itself, attached if it could not be read completely. */
export function rawFile(subject: string | undefined, size: number): AttachedFile {
  const type = { mime: 'message/rfc822', extension: 'eml' };
  return {
    part: 'raw',
    name: safeFileName(messageName(subject), type, 'message'),
    type: type.mime,
    size,
    source: { kind: 'raw' },
  };
}

function nameOf({
  contentType,
  fileName,
  otherName,
  contentId,
  content,
}: Leaf): string | undefined {
  if (contentType === 'message/rfc822') {
    const subject = readSubject(parseHeaderBlock(content.start).first('subject'));
    return subject === undefined && fileName !== undefined ? fileName : messageName(subject);
  }
  if (contentType === 'text/calendar' && !/\.ics$/i.test(fileName ?? '')) return 'invite.ics';
  if (fileName !== undefined) return fileName;
  if (contentType === 'message/delivery-status') return 'delivery-status.txt';
  return (
    otherName ??
    (contentType.startsWith('image/') ? PICTURE_ID.exec(contentId ?? '')?.[1] : undefined)
  );
}

/** Outlook writes the name of a picture into its Content-ID: `image001.png@01D0B2C4.8E5C2A50`. */
const PICTURE_ID = /^([^@]{1,100}\.[a-z]{3,4})(?:@|$)/i;

/** A slash in a subject is not a path separator. */
function messageName(subject: string | undefined): string {
  return `${(subject ?? 'message').replace(/[/\\]/g, '-')}.eml`;
}

/** An image of the message that its text refers to by a Content-ID (RFC 2392). */
export interface InlineImage {
  readonly name: string;
  /** The placeholder of its address; without one, it is named rather than shown. */
  readonly shownAs?: string;
}

/** Finds images by their Content-ID among the parts of the message and the resulting files. */
export function inlineImages(leaves: readonly Leaf[], files: readonly AttachedFile[]) {
  const images = new Map<string, InlineImage>();
  leaves.forEach(({ contentId }, index) => {
    const file = files[index];
    if (contentId === undefined || file === undefined) return;
    const { name, shownAs } = file;
    images.set(contentId, { name, ...(shownAs !== undefined && { shownAs }) });
  });
  return (contentId: string): InlineImage | undefined => {
    const image = images.get(contentId);
    return image ?? images.get(decodedContentId(contentId));
  };
}

/** The Content-ID of a `cid:` URL, which may be percent-encoded (RFC 2392 §2). */
export function decodedContentId(contentId: string): string {
  if (!contentId.includes('%')) return contentId;
  try {
    return decodeURIComponent(contentId);
  } catch {
    return contentId;
  }
}

const MAX_ALT_LENGTH = 200;

/** The image of an `img` element; undefined if nothing is known about it. */
export function readImage(
  attributes: Readonly<Record<string, string>>,
  inlineImage: (contentId: string) => InlineImage | undefined,
): InlineImage | undefined {
  const contentId = /^\s*cid:(.{1,255})$/is.exec(attributes['src'] ?? '')?.[1];
  const image = contentId === undefined ? undefined : inlineImage(contentId.trim());
  if (image !== undefined) return image;
  const name = cleanLine(attributes['alt'] ?? '', MAX_ALT_LENGTH);
  return name === '' ? undefined : { name };
}

interface PartType {
  readonly mime: string;
  /** Without a dot. */
  readonly extension?: string;
}

/** Containers that several document types use, for which the declared type may be more specific. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'application/zip',
  'application/x-cfb',
  'application/xml',
]);
/**
 * Types that sniffing recognizes: a file declared as one of them but not recognized is not that
 * type.
 */
const RECOGNIZABLE =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip|x-7z-compressed|x-rar))/;
const TOKEN = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,100}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}$/;
const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * The type of an attachment by its first bytes; the declared type only if they are not conclusive.
 */
async function typeOf({ contentType, content }: Leaf): Promise<PartType> {
  const declared =
    TOKEN.test(contentType) && !contentType.startsWith('multipart/') ? contentType : UNKNOWN_TYPE;
  if (declared === 'message/rfc822' || declared === 'text/calendar') return { mime: declared };
  const sniffed = await signatureOf(content.start);
  if (sniffed === undefined) return { mime: RECOGNIZABLE.test(declared) ? UNKNOWN_TYPE : declared };
  if (CONTAINERS.has(sniffed.mime) && !RECOGNIZABLE.test(declared) && declared !== UNKNOWN_TYPE) {
    return { mime: declared };
  }
  return { mime: sniffed.mime, extension: sniffed.ext };
}

const MAX_NAME_LENGTH = 120;
const MAX_EXTENSION_LENGTH = 16;

/**
 * A safe name for an attachment: decoded, without control, bidi and path characters, at most 120
 * characters with the extension kept, and with an extension derived from the type if there is none.
 * `fallback` is used if nothing is left.
 */
export function safeFileName(
  raw: string | undefined,
  type: { readonly mime: string; readonly extension?: string },
  fallback: string,
): string {
  const bare = withoutPath(cleanLine(decodeParameter(raw ?? ''), 1000));
  const { stem, extension } = splitName(bare);
  const suffix = extension === '' ? (type.extension ?? extensionOf(type.mime)) : extension;
  const dotted = suffix === '' ? '' : `.${suffix}`;
  const kept = cutText(stem === '' ? fallback : stem, MAX_NAME_LENGTH - dotted.length).trimEnd();
  return `${kept}${dotted}`;
}

function withoutPath(name: string): string {
  const bare = name
    .replace(/^.*[/\\](?=[^/\\])/s, '')
    // Reserved on some file systems, or significant in HTML and Markdown.
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/^[.\s]+/, '');
  return withoutEnd(bare, /[.\s]/);
}

function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot + 1) : '';
  const real = /^[a-z0-9]+$/i.test(extension) && extension.length <= MAX_EXTENSION_LENGTH;
  return real ? { stem: name.slice(0, dot), extension } : { stem: name, extension: '' };
}

function extensionOf(mime: string): string {
  if (mime === 'application/octet-stream') return 'bin';
  if (mime === 'message/rfc822') return 'eml';
  if (mime === 'text/plain') return 'txt';
  const extension: unknown = libmime.detectExtension(mime);
  return typeof extension === 'string' && /^[a-z0-9]{1,8}$/.test(extension) ? extension : 'bin';
}

/** The content of a message of which only the header block could be read. */
export function stubText(subject: string | undefined): string {
  const note = '(message could not be read; the original is attached)';
  return subject === undefined ? note : `${subject}\n\n${note}`;
}
