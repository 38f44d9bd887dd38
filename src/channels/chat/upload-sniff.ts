import { Transform, type TransformCallback } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';

/** file-type's own sample size; what browsers sniff is shorter (MIME Sniffing §5.2: 1445 bytes). */
const HEAD_BYTES = 4_100;
/** What a browser would run when somebody opens the file: in a text, wherever its head says so. */
const ACTIVE = /<(?:!doctype\s+html|html|svg|script|iframe|body|xsl:|\?xml-stylesheet)/i;
const ACTIVE_TYPES = /^(?:image\/svg\+xml|text\/html|application\/xhtml\+xml|text\/javascript)\b/i;
const ACTIVE_NAMES = /\.(?:svgz?|x?html?|shtml|mht(?:ml)?|hta|xsl)$/i;
/** Kinds of text that cannot be told from the bytes, so that the client's word is taken. */
const TEXT_TYPES = new Set(['text/csv', 'text/markdown', 'text/calendar', 'text/vcard']);

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
 * The MIME type that the first bytes show.
 * @throws {UnsupportedFile} SVG, HTML and other text that a browser would run
 */
export async function sniffType(head: Uint8Array, declaredType: string): Promise<string> {
  const wide = wideText(head);
  // Before file-type looks: it takes the mark of UTF-16 for the start of an MPEG frame.
  if (wide !== undefined && ACTIVE.test(wide)) throw new UnsupportedFile('browsers would run it');
  const found = (await fileTypeFromBuffer(head))?.mime;
  if (found !== undefined && found !== 'application/xml') return found;
  // A NUL never stands in other text; Latin-1 shows the ASCII that matters here.
  const text = wide ?? (head.includes(0) ? undefined : Buffer.from(head).toString('latin1'));
  if (text === undefined) return 'application/octet-stream';
  if (ACTIVE.test(text)) throw new UnsupportedFile('browsers would run it');
  if (found !== undefined) return found;
  const declared = declaredType.toLowerCase();
  return TEXT_TYPES.has(declared) ? declared : 'text/plain';
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
  type = 'application/octet-stream';
  readonly #declaredType: string;
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(declaredType: string) {
    super();
    this.#declaredType = declaredType;
  }

  override _transform(chunk: Buffer, _encoding: string, callback: TransformCallback): void {
    if (this.#head === undefined) {
      callback(null, chunk);
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < HEAD_BYTES) callback();
    else this.#release(this.#head, callback);
  }

  override _flush(callback: TransformCallback): void {
    if (this.#head === undefined) callback();
    else this.#release(this.#head, callback);
  }

  #release(head: Buffer, callback: TransformCallback): void {
    this.#head = undefined;
    sniffType(head.subarray(0, HEAD_BYTES), this.#declaredType).then(
      (type) => {
        this.type = type;
        callback(null, head);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('sniffing failed')),
    );
  }
}
