import type { Readable, Transform } from 'node:stream';
import { MailParser, type AttachmentStream, type MailParserOptions } from 'mailparser';
import type { PartHead } from './part-head.ts';
import { type Corrections, type Splitter, StructureReader } from './structure-reader.ts';

/** A node of the message's MIME tree, in mailparser's form. */
export interface MimeNode {
  readonly contentType: string | false;
  readonly headers: ReadonlyMap<string, unknown>;
  readonly children: readonly MimeNode[];
}

/** mailparser's class with the methods that its types leave out. */
interface Undocumented {
  processHeaders(head: PartHead): Map<string, unknown>;
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
 * The heads of parts are read by `StructureReader`, because libmime knows neither comments nor
 * which sections of a parameter are encoded, and because mailparser's address parser is quadratic
 * (17 s for a `To: a:a:…` of 0.9 MB).
 *
 * All uses of mailparser beyond its documented interface are in this class and in
 * `StructureReader`. The version is pinned; test/channels/email/library-shape.test.ts fails if one
 * of these members changes.
 *
 * | member | why |
 * | --- | --- |
 * | `textTypes` | empty: every part is a stream |
 * | `tree`, `curnode`, `attachmentList` | the structure of the message; released after reading |
 * | `processHeaders` | gets our reading of a head, and limits the number of parts |
 * | `chunkedPassthrough`, `splitter` | a message in memory bypasses two streams |
 * | `hasFailed` | a message with too many parts ends, and the parts before are kept |
 *
 * Of the splitter (`@zone-eu/mailsplit`), used by `StructureReader`:
 *
 * | member | why |
 * | --- | --- |
 * | `checkBoundary` | decides which lines are delimiters (1 and 2: of the current multipart, 3 and 4: of one around it; 2 and 4 end it) |
 * | `processLine` | counts lines; text in a head without an empty line follows its node |
 * | `newNode`, `node`, `state` | the current node; 1: in its head, 2: after it |
 * | a node's `parseHeaders`, `headers`, `_headersLines`, `_headerlen` | our reading of the head replaces libmime's |
 * | a node's `contentType`, `multipart`, `getDecoder` | what the head says |
 * | a node's `parentNode`, `_parentBoundaryOwner` | the multipart that a delimiter continues or ends |
 */
export class LeafParser extends Base {
  readonly textTypes: readonly string[] = [];
  declare tree: MimeNode | false;
  declare curnode: MimeNode | false;
  declare attachmentList: unknown[];
  declare hasFailed: boolean;
  declare chunkedPassthrough: Transform;
  declare splitter: Splitter;
  readonly structure: StructureReader;
  readonly #heads = new WeakMap<object, PartHead>();
  #nodes = 0;

  /** @param corrections how multiparts are read in which an earlier reading found no part */
  constructor(corrections: Corrections = new Map()) {
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
    this.structure = new StructureReader(this.splitter, corrections);
  }

  override processHeaders(head: PartHead): Map<string, unknown> {
    this.#nodes += 1;
    if (this.#nodes > MAX_MIME_NODES) this.#giveUp();
    // Each node needs a separate map, which is the key for finding its leaf.
    const headers = new Map<string, unknown>();
    this.#heads.set(headers, head);
    return headers;
  }

  /** The head of the node with these headers. @throws {TypeError} there is no such node */
  headOf(headers: object): PartHead {
    const head = this.#heads.get(headers);
    if (head === undefined) throw new TypeError('not the headers of a node');
    return head;
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

/** mailparser declares the content as the legacy `Stream`; it is a Transform. */
export type LeafStream = Omit<AttachmentStream, 'content'> & { readonly content: Readable };
