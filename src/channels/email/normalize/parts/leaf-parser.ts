import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { MailParser, type AttachmentStream, type MailParserOptions } from 'mailparser';
import { decodeText } from '../body/charset.ts';

/** A node of the message's MIME tree, as mailparser keeps it. */
export interface MimeNode {
  readonly contentType: string | false;
  readonly headers: ReadonlyMap<string, unknown>;
  readonly children: readonly MimeNode[];
  decoder?: Pick<Readable, 'readableEnded'> | false;
}

interface HeaderLine {
  readonly key: string;
  readonly line: string;
}

/** mailparser's class, with the methods that its types leave out. */
interface Undocumented {
  processHeaders(lines: readonly HeaderLine[]): Map<string, unknown>;
  endStream(): void;
}
type WithUndocumented = new (options: MailParserOptions) => MailParser & Undocumented;
// Not part of the published types; a test holds that they are there.
const Base = MailParser as unknown as WithUndocumented;

interface LeafParserOptions extends MailParserOptions {
  /** The splitter's: message/rfc822 is one part, as it came, not parts of the outer message. */
  readonly ignoreEmbedded: true;
  /** The splitter's: bytes of the header block of any part. */
  readonly maxHeadSize: number;
  /** The splitter's: parts of any kind. */
  readonly maxChildNodes: number;
  readonly keepCidLinks: true;
}

/** The headers of a part that are parsed; the splitter reads the encoding. */
const STRUCTURE = new Set(['content-type', 'content-disposition', 'content-id']);

/** Nearly all parts have one of a few header blocks: the parsed results of the latest ones. */
const KNOWN = new Map<string, ReadonlyMap<string, unknown>>();
const MAX_KNOWN = 500;
const MAX_KNOWN_LENGTH = 200;

function remember(text: string, headers: ReadonlyMap<string, unknown>): void {
  if (KNOWN.size === MAX_KNOWN) KNOWN.clear();
  KNOWN.set(text, headers);
}

export const MAX_HEAD_BYTES = 131_072;
export const MAX_MIME_NODES = 1000;

/** More parts than any mail has. What came before is read. */
class TooManyParts extends Error {
  override name = 'TooManyParts';
}

/**
 * mailparser's streaming parser, told that no part is text: every leaf then comes as a stream of
 * its decoded bytes. What it does with text itself cannot be used here: whole bodies in memory, no
 * charset but the declared one, and the parts of alternatives joined beyond recognition.
 *
 * Of headers it reads only those of the structure: its parser of addresses is quadratic (17 s for a
 * 0.9 MB `To: a:a:…`), and all others are read elsewhere, from the raw header block.
 *
 * All that is used of mailparser beyond its documented interface stands in this class. The version
 * is pinned; test/channels/email/library-shape.test.ts fails when one of these members changes.
 *
 * | member | why |
 * | --- | --- |
 * | `textTypes` | empty: every part comes as a stream |
 * | `tree`, `curnode`, `attachmentList` | the structure of the message; let go of when it was read |
 * | `processHeaders` | only the headers of the structure are parsed, and a bound on parts |
 * | `endStream` | a stream that a boundary has ended is not ended once more |
 * | `chunkedPassthrough`, `splitter` | a message that is in memory skips two streams |
 * | `hasFailed` | a message with too many parts ends, and what came before is kept |
 */
export class LeafParser extends Base {
  readonly textTypes: readonly string[] = [];
  declare tree: MimeNode | false;
  declare curnode: MimeNode | false;
  declare attachmentList: unknown[];
  declare hasFailed: boolean;
  declare chunkedPassthrough: Transform;
  declare splitter: Transform;
  #nodes = 0;

  constructor() {
    const options: LeafParserOptions = {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipTextLinks: true,
      skipImageLinks: true,
      keepCidLinks: true,
      maxHeadSize: MAX_HEAD_BYTES,
      maxChildNodes: Number.MAX_SAFE_INTEGER,
      ignoreEmbedded: true,
      checksumAlgo: 'sha256',
    };
    super(options);
  }

  override processHeaders(lines: readonly HeaderLine[]): Map<string, unknown> {
    this.#nodes += 1;
    if (this.#nodes > MAX_MIME_NODES) this.#giveUp();
    const structural = lines.filter(({ key }) => STRUCTURE.has(key));
    const text = structural.map(({ line }) => line).join('\n');
    const known = KNOWN.get(text) ?? super.processHeaders(structural.map(inUtf8));
    if (text.length <= MAX_KNOWN_LENGTH) remember(text, known);
    // Each node needs a map of its own: it is the key by which its leaf is found.
    return new Map(known);
  }

  /**
   * The library ends a part that a boundary has ended once more with the message. Ending a stream
   * twice makes an error that is never seen: 3 % of the time that a small message takes.
   */
  override endStream(): void {
    const { curnode } = this;
    if (curnode !== false && curnode.decoder && curnode.decoder.readableEnded) {
      curnode.decoder = false;
    }
    super.endStream();
  }

  /** Takes a whole message, past the two streams that would only hand it on. */
  endWith(message: Uint8Array): void {
    this.chunkedPassthrough.unpipe(this.splitter);
    this.splitter.end(message);
    this.end();
  }

  /**
   * Lets go of the parts that were read. A parser that has ended outlives the collections of the
   * young generation; with all its parts that was a third of the time that a small message takes.
   */
  forget(): void {
    this.tree = false;
    this.curnode = false;
    this.attachmentList = [];
  }

  /** The splitter's own limit is not used: it runs ahead and drops what it has found. */
  #giveUp(): void {
    this.hasFailed = true;
    this.destroy(new TooManyParts('too many parts'));
  }
}

/** mailparser reads each line, a byte a character, as UTF-8; raw 8-bit names are in other charsets too. */
function inUtf8(header: HeaderLine): HeaderLine {
  if (!/[\x80-\xff]/.test(header.line)) return header;
  const bytes = Buffer.from(header.line, 'latin1');
  if (isUtf8(bytes)) return header;
  return { ...header, line: Buffer.from(decodeText(bytes, undefined).text).toString('latin1') };
}

/** mailparser types the content as the legacy `Stream`; it is a Transform. */
export type LeafStream = Omit<AttachmentStream, 'content'> & { readonly content: Readable };
