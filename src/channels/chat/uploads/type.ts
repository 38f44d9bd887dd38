import { Transform, type TransformCallback } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';

/**
 * How much of a file is looked at. A browser looks at 1445 bytes (MIME Sniffing §5.2); what stands
 * behind longer blanks and comments is seen here too. What has not shown itself by then is a
 * download of no type.
 */
const HEAD_BYTES = 64 * 1024;

/** Trailing dots and blanks do not count: Windows drops them. */
const ACTIVE_NAMES = /\.(?:svgz?|x?html?|xht|shtml?|mht(?:ml)?|hta|htc|xslt?)[.\s]*$/i;
const ACTIVE_TYPES = /^(?:image\/svg\+xml|text\/html|application\/xhtml\+xml|text\/javascript)\b/i;
/** Of the elements that a page may begin with (MIME Sniffing §7.1), those that nothing else has. */
const ACTIVE_ROOTS = /^(?:[^:]+:)?(?:html|head|body|script|iframe|frameset|svg)$/i;
/** What makes a page of a file that is something else besides, wherever it stands. */
const ACTIVE_MARKUP =
  /<!doctype\s|<\/?(?:[\w.-]+:)?(?:html|head|body|script|iframe|frameset|svg|img|object|embed)[\s/>]/i;
/** Any tag, declaration or comment; not `<` in a formula, nor `<ann@example.com>`. */
const MARKUP = /<(?:[!?/]|[a-z_][\w:.-]*[\s/>])/i;

/** Kinds of text that cannot be told from the bytes, so that the client's word is taken. */
const TEXT_TYPES = new Set(['text/csv', 'text/markdown', 'text/calendar', 'text/vcard']);
/**
 * Types that browsers show or save and never run; any other one is stored as a download of no type.
 * What is made of XML is not among them: a script runs in any XML document (SVG, XHTML).
 */
const KNOWN_TYPES = new Set([
  ...['png', 'apng', 'jpeg', 'gif', 'webp', 'avif', 'heic', 'heif', 'bmp', 'tiff', 'x-icon'].map(
    (image) => `image/${image}`,
  ),
  ...['mpeg', 'mp4', 'x-m4a', 'aac', 'ogg', 'ogg; codecs=opus', 'wav', 'flac', 'amr', 'aiff'].map(
    (audio) => `audio/${audio}`,
  ),
  ...['mp4', 'x-m4v', 'webm', 'quicktime', 'matroska', 'mpeg', 'ogg', '3gpp', '3gpp2'].map(
    (video) => `video/${video}`,
  ),
  ...['video/vnd.avi', 'application/pdf', 'application/rtf', 'application/x-cfb'],
  ...['zip', 'gzip', 'x-tar', 'x-7z-compressed', 'x-rar-compressed', 'epub+zip'].map(
    (archive) => `application/${archive}`,
  ),
  ...['wordprocessingml.document', 'spreadsheetml.sheet', 'presentationml.presentation'].map(
    (office) => `application/vnd.openxmlformats-officedocument.${office}`,
  ),
  ...['text', 'spreadsheet', 'presentation', 'graphics'].map(
    (office) => `application/vnd.oasis.opendocument.${office}`,
  ),
]);
const UNKNOWN = 'application/octet-stream';

/** This type of file is not taken (HTTP 415). */
export class UnsupportedFile extends Error {
  override name = 'UnsupportedFile';
}

/** @throws {UnsupportedFile} by what the client says it is; the bytes are looked at later */
export function assertInert(name: string, declaredType: string): void {
  if (ACTIVE_NAMES.test(name) || ACTIVE_TYPES.test(declaredType)) {
    throw new UnsupportedFile('a file that browsers would run');
  }
}

/**
 * The MIME type that the first bytes show. Other markup than SVG and HTML (an XML invoice, a log
 * with tags) is taken, and so is whatever else nobody knows: as `application/octet-stream`, which
 * browsers download and never open.
 * @param head `HEAD_BYTES` of the file, or all of it
 * @throws {UnsupportedFile} SVG, HTML and XHTML, by the root element
 */
export async function sniffType(head: Uint8Array, declaredType: string): Promise<string> {
  const wide = wideText(head);
  // Before file-type looks: it takes the mark of UTF-16 for the start of an MPEG frame.
  const found = wide === undefined ? (await fileTypeFromBuffer(head))?.mime : undefined;
  const isText = found === undefined || /^text\/|[/+]xml$/.test(found);
  // A NUL never stands in other text.
  const isBinary = wide === undefined && head.includes(0);
  const text = wide ?? new TextDecoder().decode(head);
  if (!isBinary && ACTIVE_ROOTS.test(rootOf(text) ?? '')) {
    throw new UnsupportedFile('browsers would run it');
  }
  if (!isText) return KNOWN_TYPES.has(found) && !ACTIVE_MARKUP.test(text) ? found : UNKNOWN;
  // Behind nothing but blanks anything may follow.
  if (isBinary || MARKUP.test(text) || text.trim() === '') return UNKNOWN;
  const named = [found, declaredType.toLowerCase()].find((type) => TEXT_TYPES.has(type ?? ''));
  return named ?? 'text/plain';
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
    if (name !== undefined && ACTIVE_ROOTS.test(name)) return name;
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

/** Passes a file through once its first bytes have shown what it is. */
export class TypeSniffer extends Transform {
  /** Known after the stream has ended. */
  type = UNKNOWN;
  readonly #declaredType: string;
  #head: Buffer[] | undefined = [];
  #headBytes = 0;

  constructor(declaredType: string) {
    super();
    this.#declaredType = declaredType;
  }

  override _transform(chunk: Buffer, _encoding: string, callback: TransformCallback): void {
    if (this.#head === undefined) {
      callback(null, chunk);
      return;
    }
    this.#head.push(chunk);
    this.#headBytes += chunk.length;
    if (this.#headBytes < HEAD_BYTES) callback();
    else this.#release(this.#head, callback);
  }

  override _flush(callback: TransformCallback): void {
    if (this.#head === undefined) callback();
    else this.#release(this.#head, callback);
  }

  #release(chunks: readonly Buffer[], callback: TransformCallback): void {
    this.#head = undefined;
    const head = Buffer.concat(chunks);
    sniffType(head.subarray(0, HEAD_BYTES), this.#declaredType).then(
      (type) => {
        this.type = type;
        callback(null, head);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('sniffing failed')),
    );
  }
}
