import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { MailParser, type AttachmentStream, type MailParserOptions } from 'mailparser';
import { decodeText } from '../body/charset.ts';

/** A node of the message's MIME tree, in mailparser's form. */
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

/** mailparser's class with the methods that its types leave out. */
interface Undocumented {
  processHeaders(lines: readonly HeaderLine[]): Map<string, unknown>;
  endStream(): void;
}
type WithUndocumented = new (options: MailParserOptions) => MailParser & Undocumented;
// Not part of the published types; a test checks that they exist.
const Base = MailParser as unknown as WithUndocumented;

interface LeafParserOptions extends MailParserOptions {
  /**
   * An option of the splitter: message/rfc822 is one unmodified part rather than parts of the outer
   * message.
   */
  readonly ignoreEmbedded: true;
  /** An option of the splitter: the maximum size of a part's header block. */
  readonly maxHeadSize: number;
  /** An option of the splitter: the maximum number of parts of any kind. */
  readonly maxChildNodes: number;
  readonly keepCidLinks: true;
}

/** The headers of a part that are parsed; the splitter reads the encoding. */
const STRUCTURE = new Set(['content-type', 'content-disposition', 'content-id']);

/** Caches the latest parsed header blocks, since nearly all parts have one of a few. */
const KNOWN = new Map<string, ReadonlyMap<string, unknown>>();
const MAX_KNOWN = 500;
const MAX_KNOWN_LENGTH = 200;

function remember(text: string, headers: ReadonlyMap<string, unknown>): void {
  if (KNOWN.size === MAX_KNOWN) KNOWN.clear();
  KNOWN.set(text, headers);
}

export const MAX_HEAD_BYTES = 131_072;
export const MAX_MIME_NODES = 1000;

/** More parts than real mail has. The parts before are read. */
class TooManyParts extends Error {
  override name = 'TooManyParts';
}

/**
 * mailparser's streaming parser, configured so that no part counts as text: every leaf is then a
 * stream of its decoded bytes. Its own handling of text cannot be used here: whole bodies in
 * memory, only the declared charset, and alternatives joined irreversibly.
 *
 * It parses only headers of the structure, because its address parser is quadratic (17 s for a `To:
 * a:a:…` of 0.9 MB); all other headers are read elsewhere, from the raw header block.
 *
 * All uses of mailparser beyond its documented interface are in this class. The version is pinned;
 * test/channels/email/library-shape.test.ts fails if one of these members changes.
 *
 * | member | why |
 * | --- | --- |
 * | `textTypes` | empty: every part is a stream |
 * | `tree`, `curnode`, `attachmentList` | the structure of the message; released after reading |
 * | `processHeaders` | parses only headers of the structure, and limits the number of parts |
 * | `endStream` | a stream that a boundary has ended is not ended again |
 * | `chunkedPassthrough`, `splitter` | a message in memory bypasses two streams |
 * | `hasFailed` | a message with too many parts ends, and the parts before are kept |
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
    // Each node needs a separate map, which is the key for finding its leaf.
    return new Map(known);
  }

  /**
   * At the end of the message, the library ends a part again that a boundary has already ended.
   * Ending a stream twice creates an error that is never seen but takes 3 % of the time for a small
   * message.
   */
  override endStream(): void {
    const { curnode } = this;
    if (curnode !== false && curnode.decoder && curnode.decoder.readableEnded) {
      curnode.decoder = false;
    }
    super.endStream();
  }

  /** Parses a whole message, bypassing the two streams that would only pass it on. */
  endWith(message: Uint8Array): void {
    this.chunkedPassthrough.unpipe(this.splitter);
    this.splitter.end(message);
    this.end();
  }

  /**
   * Releases the parts that were read. A finished parser outlives collections of the young
   * generation; keeping all its parts took a third of the time for a small message.
   */
  forget(): void {
    this.tree = false;
    this.curnode = false;
    this.attachmentList = [];
  }

  /** The splitter's own limit is not used, because it reads ahead and drops what it has found. */
  #giveUp(): void {
    this.hasFailed = true;
    this.destroy(new TooManyParts('too many parts'));
  }
}

/**
 * mailparser reads each byte of a line as a character, and then as UTF-8; raw 8-bit names may be in
 * other charsets.
 */
function inUtf8(header: HeaderLine): HeaderLine {
  if (!/[\x80-\xff]/.test(header.line)) return header;
  const bytes = Buffer.from(header.line, 'latin1');
  if (isUtf8(bytes)) return header;
  return { ...header, line: Buffer.from(decodeText(bytes, undefined)).toString('latin1') };
}

/** mailparser declares the content as the legacy `Stream`; it is a Transform. */
export type LeafStream = Omit<AttachmentStream, 'content'> & { readonly content: Readable };
