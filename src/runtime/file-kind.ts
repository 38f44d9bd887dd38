import { open } from 'node:fs/promises';
import { FileTypeParser } from 'file-type';

/**
 * The kind of a file by its first bytes. The sender chooses its name and declared type, so code
 * that serves it under a type that a browser interprets must use this instead.
 */
export type FileKind =
  /**
   * A format with a signature. `hasPage`: a browser that sniffs could also take it for a web page.
   */
  | {
      readonly kind: 'recognized';
      readonly type: string;
      /** Without a dot. */
      readonly extension: string;
      readonly hasPage: boolean;
    }
  /** HTML, XHTML or SVG, by the root element: a browser executes it. */
  | { readonly kind: 'page' }
  /** Text; `type` only if the content shows one (a calendar, a contact card). */
  | {
      readonly kind: 'text';
      readonly type: string | undefined;
      readonly extension: string | undefined;
      /** Where tags, declarations or comments begin: at the start, or only after other text. */
      readonly markup: 'none' | 'inside' | 'start';
    }
  /** An unknown format, or only blanks, which anything could follow. */
  | { readonly kind: 'unknown' };

/**
 * How many bytes of a file are examined. A browser examines 1445 bytes (MIME Sniffing §5.2); more
 * are examined here, so that blanks and comments cannot hide the rest. A file that shows no type by
 * then is served as an untyped download.
 */
export const HEAD_BYTES = 64 * 1024;

const SNIFF_TIMEOUT_MS = 10_000;
/**
 * Those of the elements that a page may begin with (MIME Sniffing §7.1) that no other format has.
 */
const PAGE_ROOTS: ReadonlySet<string> = new Set(
  'html head body script iframe frameset svg'.split(' '),
);
/** Markup that makes a browser treat a file as a page, wherever it occurs. */
const PAGE_MARKUP: ReadonlySet<string> = new Set([
  ...PAGE_ROOTS,
  ...['!doctype', 'img', 'object', 'embed'],
]);
const TAG = /<\/?([\w.:!-]+)[\s/>]/g;
/** Any tag, declaration or comment, but not `<` in a formula or `<ann@example.com>`. */
const MARKUP = /<(?:[!?/]|[a-z_][\w:.-]*[\s/>])/i;

/** @param head the first `HEAD_BYTES` of the file, or all of it */
export function fileKind(head: Uint8Array): Promise<FileKind> {
  return kindOf(head, (parser) => parser.fromBuffer(head));
}

/**
 * The kind of a file on the disk. The entries that identify a container format may be anywhere in
 * it.
 */
export async function fileKindAt(path: string): Promise<FileKind> {
  return kindOf(await headAt(path), (parser) => parser.fromFile(path));
}

/**
 * The format by its signature alone. Undefined for texts, unknown formats, and containers that are
 * truncated or forged.
 * @param head the first bytes of the file
 */
export function signatureOf(head: Uint8Array): Promise<Signature> {
  return signature(head, (parser) => parser.fromBuffer(head));
}

/** The same for a file on the disk. The entries that identify a container format may be anywhere in it. */
export async function signatureAt(path: string): Promise<Signature> {
  return signature(await headAt(path), (parser) => parser.fromFile(path));
}

async function headAt(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A media type and its file extension, without a dot. */
type Signature = Awaited<ReturnType<FileTypeParser['fromBuffer']>>;

async function kindOf(
  head: Uint8Array,
  parse: (parser: FileTypeParser) => Promise<Signature>,
): Promise<FileKind> {
  const wide = wideText(head);
  const found = await signature(head, parse);
  // Only binary files and UTF-16 text contain a NUL.
  const isBinary = wide === undefined && head.includes(0);
  const text = wide ?? new TextDecoder().decode(head);
  if (!isBinary && PAGE_ROOTS.has(localName(rootOf(text) ?? ''))) return { kind: 'page' };
  const isText = found === undefined || /^text\/|[/+]xml$/.test(found.mime);
  // For example, XML in UTF-16 without a byte order mark.
  if (isBinary && found?.mime === 'application/xml') return { kind: 'unknown' };
  if (found !== undefined && (!isText || isBinary)) {
    const { mime: type, ext: extension } = found;
    return { kind: 'recognized', type, extension, hasPage: hasPageMarkup(text) };
  }
  if (isBinary || text.trim() === '') return { kind: 'unknown' };
  const markup = !MARKUP.test(text) ? 'none' : /^\s*</.test(text) ? 'start' : 'inside';
  return { kind: 'text', type: found?.mime, extension: found?.ext, markup };
}

async function signature(
  head: Uint8Array,
  parse: (parser: FileTypeParser) => Promise<Signature>,
): Promise<Signature> {
  // file-type mistakes the byte order mark of UTF-16 for the start of an MPEG frame.
  if (wideText(head) !== undefined) return undefined;
  try {
    return await parse(new FileTypeParser({ signal: AbortSignal.timeout(SNIFF_TIMEOUT_MS) }));
  } catch {
    return undefined;
  }
}

function hasPageMarkup(text: string): boolean {
  return [...text.matchAll(TAG)].some(([, name = '']) => PAGE_MARKUP.has(localName(name)));
}

/** Without the prefix of a namespace. */
const localName = (name: string) => name.slice(name.lastIndexOf(':') + 1).toLowerCase();

const DOCTYPE = /^<!doctype\s+([^\s>[]+)[^>[]*/i;
const ROOT = /^<([a-z_][^\s/>]*)/i;

/**
 * The name of a document's first element, or of its document type if that is sufficient. Before it may be
 * blanks, comments, instructions and a document type (XML 1.0 §2.8).
 */
function rootOf(text: string): string | undefined {
  let rest = text.trimStart();
  for (;;) {
    const [start, name = ''] = DOCTYPE.exec(rest) ?? [];
    if (PAGE_ROOTS.has(localName(name))) return name;
    let behind: string | undefined;
    if (rest.startsWith('<!--')) behind = after(rest, '-->', 4);
    else if (rest.startsWith('<?')) behind = after(rest, '?>', 2);
    else if (start !== undefined && rest[start.length] === '[') behind = afterSubset(rest);
    else if (start !== undefined) behind = after(rest, '>', start.length);
    if (behind === undefined) return ROOT.exec(rest)?.[1];
    rest = behind.trimStart();
  }
}

/** What is behind the next such end; undefined without one. */
function after(text: string, end: string, from: number): string | undefined {
  const at = text.indexOf(end, from);
  return at === -1 ? undefined : text.slice(at + end.length);
}

/** What is behind a document type with declarations of its own. */
function afterSubset(text: string): string | undefined {
  const end = /\]\s*>/.exec(text);
  return end === null ? undefined : text.slice(end.index + end[0].length);
}

/** The text, if the bytes begin with the byte order mark of UTF-16. */
function wideText(head: Uint8Array): string | undefined {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(head);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(head);
  return undefined;
}
