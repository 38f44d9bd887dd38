import { open } from 'node:fs/promises';
import { FileTypeParser } from 'file-type';

/**
 * What the first bytes of a file show. The sender chooses its name and its declared type; whoever
 * stores it under a type that a browser acts on must ask here.
 */
export type FileKind =
  /** A format with a signature. `hasPage`: it is a web page besides, to a browser that looks. */
  | {
      readonly kind: 'recognized';
      readonly type: string;
      /** Without the dot. */
      readonly extension: string;
      readonly hasPage: boolean;
    }
  /** HTML, XHTML or SVG, by the root element: a browser runs it. */
  | { readonly kind: 'page' }
  /** Text; its type only when something in it shows one (a calendar, a contact card). */
  | {
      readonly kind: 'text';
      readonly type: string | undefined;
      readonly extension: string | undefined;
      /** Tags, declarations or comments: at its start, or only behind other text. */
      readonly markup: 'none' | 'inside' | 'start';
    }
  /** Bytes that nobody knows, or nothing but blanks, behind which anything may follow. */
  | { readonly kind: 'unknown' };

/**
 * How much of a file is looked at. A browser looks at 1445 bytes (MIME Sniffing §5.2); what stands
 * behind longer blanks and comments is seen here too. What has not shown itself by then is a
 * download of no type.
 */
export const HEAD_BYTES = 64 * 1024;

const SNIFF_TIMEOUT_MS = 10_000;
/** Of the elements that a page may begin with (MIME Sniffing §7.1), those that nothing else has. */
const PAGE_ROOTS = /^(?:[^:]+:)?(?:html|head|body|script|iframe|frameset|svg)$/i;
/** What makes a page of a file that is something else besides, wherever it stands. */
const PAGE_MARKUP =
  /<!doctype\s|<\/?(?:[\w.-]+:)?(?:html|head|body|script|iframe|frameset|svg|img|object|embed)[\s/>]/i;
/** Any tag, declaration or comment; not `<` in a formula, nor `<ann@example.com>`. */
const MARKUP = /<(?:[!?/]|[a-z_][\w:.-]*[\s/>])/i;

/** @param head `HEAD_BYTES` of the file, or all of it */
export function fileKind(head: Uint8Array): Promise<FileKind> {
  return kindOf(head, (parser) => parser.fromBuffer(head));
}

/** The kind of a file on the disk, of which a container's format may stand anywhere. */
export async function fileKindAt(path: string): Promise<FileKind> {
  return kindOf(await headAt(path), (parser) => parser.fromFile(path));
}

/**
 * The format by its signature alone. Undefined where there is none: texts, unknown formats, and
 * containers that are cut off or made up.
 * @param head the first bytes of the file
 */
export function signatureOf(head: Uint8Array): Promise<Signature> {
  return signature(head, (parser) => parser.fromBuffer(head));
}

/** The same for a file on the disk, of which a container's format may stand anywhere. */
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

/** A media type and the file extension that goes with it, without the dot. */
type Signature = Awaited<ReturnType<FileTypeParser['fromBuffer']>>;

async function kindOf(
  head: Uint8Array,
  parse: (parser: FileTypeParser) => Promise<Signature>,
): Promise<FileKind> {
  const wide = wideText(head);
  const found = await signature(head, parse);
  // A NUL never stands in other text.
  const isBinary = wide === undefined && head.includes(0);
  const text = wide ?? new TextDecoder().decode(head);
  if (!isBinary && PAGE_ROOTS.test(rootOf(text) ?? '')) return { kind: 'page' };
  const isText = found === undefined || /^text\/|[/+]xml$/.test(found.mime);
  // XML in UTF-16 without a mark, say.
  if (isBinary && found?.mime === 'application/xml') return { kind: 'unknown' };
  if (found !== undefined && (!isText || isBinary)) {
    const { mime: type, ext: extension } = found;
    return { kind: 'recognized', type, extension, hasPage: PAGE_MARKUP.test(text) };
  }
  if (isBinary || text.trim() === '') return { kind: 'unknown' };
  const markup = !MARKUP.test(text) ? 'none' : /^\s*</.test(text) ? 'start' : 'inside';
  return { kind: 'text', type: found?.mime, extension: found?.ext, markup };
}

async function signature(
  head: Uint8Array,
  parse: (parser: FileTypeParser) => Promise<Signature>,
): Promise<Signature> {
  // file-type takes the byte order mark of UTF-16 for the start of an MPEG frame.
  if (wideText(head) !== undefined) return undefined;
  try {
    return await parse(new FileTypeParser({ signal: AbortSignal.timeout(SNIFF_TIMEOUT_MS) }));
  } catch {
    return undefined;
  }
}

/**
 * What stands before the root element: blanks, comments, instructions and a document type
 * (XML 1.0 §2.8). Each part is found from where the one before has ended.
 */
const PROLOG =
  /\s+|<!--[^]*?-->|<\?[^]*?\?>|<!doctype\s+(?<name>[^\s>[]+)[^>[]*(?:\[[^]*?\]\s*)?>/iy;
const ROOT = /<(?<name>[a-z_][^\s/>]*)/iy;

/** The name of the element that a document begins with, or of its type when that says enough. */
function rootOf(text: string): string | undefined {
  let at = 0;
  for (;;) {
    PROLOG.lastIndex = at;
    const part = PROLOG.exec(text);
    if (part === null) break;
    at = PROLOG.lastIndex;
    const name = part.groups?.['name'];
    if (name !== undefined && PAGE_ROOTS.test(name)) return name;
  }
  ROOT.lastIndex = at;
  return ROOT.exec(text)?.groups?.['name'];
}

/** Text in UTF-16, when these bytes begin with its mark. */
function wideText(head: Uint8Array): string | undefined {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(head);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(head);
  return undefined;
}
