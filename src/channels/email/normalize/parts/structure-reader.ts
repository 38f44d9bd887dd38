import type { Transform } from 'node:stream';
import { readHeadLines } from './head-lines.ts';
import {
  BoundaryGuess,
  type Correction,
  type Delimiter,
  delimiterText,
  OpenMultiparts,
  OutsideText,
} from './multipart-lines.ts';
import { type PartHead, readPartHead } from './part-head.ts';
import { createDecoder, DecoderStream } from './transfer-encodings.ts';

/** A node of mailparser's splitter. */
interface SplitterNode {
  readonly parentNode: SplitterNode | false;
  _headersLines: Buffer[];
  _headerlen: number;
  _parentBoundaryOwner: SplitterNode | false;
  headers: false | { readonly getList: () => PartHead };
  contentType: string | false;
  multipart: string | false;
  parseHeaders: () => void;
  getDecoder: () => DecoderStream;
}

/** mailparser's splitter, with the members that its types leave out. */
export interface Splitter extends Transform {
  node: SplitterNode;
  state: number;
  newNode: (parent: SplitterNode | false) => void;
  checkBoundary: (line: Buffer) => DelimiterKind | false;
  processLine: (line: Buffer | false, final: boolean, next: NextLine) => void;
}

type Piece = SplitterNode | { node: SplitterNode; type: 'body'; value: Buffer };
type NextLine = (error?: Error | null, piece?: Piece | false, flush?: boolean) => void;

/** The states of the splitter. */
const HEAD = 1;
const BODY = 2;
/** What the splitter calls the delimiters: of the current multipart, or of one that contains it. */
type DelimiterKind = 1 | 2 | 3 | 4;
const CHILD = 1;
const END = 2;
const SIBLING = 3;
const OUTER_END = 4;

/** A fault of a message in which readers differ, and which was read nevertheless. */
export type Recovery =
  /** A second Content-Type, Content-Transfer-Encoding or MIME-Version: the first counts. */
  | 'repeated_field'
  | 'unindented_parameter'
  | 'no_empty_line'
  | 'inner_not_closed'
  | 'early_end'
  /** A multipart was read with another boundary than it declares. */
  | 'other_boundary'
  /** A message without a type was read as a multipart, whose boundary its lines use. */
  | 'no_type'
  /** A multipart without a boundary was read as text. */
  | 'no_boundary'
  | 'text_outside_parts'
  | 'bare_cr';

/** By the line of the message at which the head of the multipart begins. */
export type Corrections = ReadonlyMap<number, Correction>;

interface Reading {
  /** The line of the message at which its head begins. */
  readonly line: number;
  isMultipart: boolean;
  isCorrected: boolean;
  /** Of a multipart without a part so far, or a message without a type. */
  guess?: BoundaryGuess;
  /** Its end was found before its first part. */
  endsEarly?: true;
  /** How often its head was searched for a boundary. */
  searches: number;
}

const MAX_SEARCHES = 8;
const EMPTY_LINE = Buffer.from('\r\n');

/**
 * Decides for mailparser's splitter which lines are delimiters, where a head ends, and what it says:
 * the splitter knows neither transport padding nor digests, looks for the innermost two boundaries
 * only, and loses a part whose head has no empty line at its end. What is odd is recorded.
 */
export class StructureReader {
  readonly recoveries = new Set<Recovery>();
  /** Preambles and epilogues. */
  readonly outside = new OutsideText();
  /** The same where the structure is a guess, so that they may be parts. */
  readonly unsure = new OutsideText();
  /** The structure of the whole message is a guess. */
  isUnsure = false;
  readonly #splitter: Splitter;
  readonly #corrections: Corrections;
  readonly #open = new OpenMultiparts<SplitterNode>();
  readonly #readings = new WeakMap<SplitterNode, Reading>();
  /** Those that may be read in another way. */
  readonly #guessed: Reading[] = [];
  #line = 0;
  /** Text that was found in the head of the current node. */
  #text: Buffer | undefined;

  constructor(splitter: Splitter, corrections: Corrections) {
    this.#splitter = splitter;
    this.#corrections = corrections;
    const { newNode, processLine } = splitter;
    splitter.newNode = (parent) => {
      newNode.call(splitter, parent);
      this.#prepare(splitter.node);
    };
    splitter.checkBoundary = (line) => this.#checkBoundary(line);
    splitter.processLine = (line, final, next) => {
      this.#line += 1;
      const read = splitter.state === HEAD && isOnlyCrs(line) ? EMPTY_LINE : line;
      processLine.call(splitter, read, final, final ? this.#withText(next) : next);
      if (this.#text !== undefined) this.#pushText(splitter.node);
    };
    this.#prepare(splitter.node);
  }

  /** How the multiparts without a part are read instead; complete at the end of the message. */
  corrections(): Corrections {
    const found = new Map<number, Correction>();
    for (const { line, guess, isMultipart } of this.#guessed) {
      const correction = guess?.correction();
      if (correction === undefined || (correction.kind === 'text' && !isMultipart)) continue;
      found.set(line, correction);
    }
    return found;
  }

  #prepare(node: SplitterNode): void {
    const reading = { line: this.#line, isMultipart: false, isCorrected: false, searches: 0 };
    this.#readings.set(node, reading);
    node.parseHeaders = () => this.#readHead(node);
  }

  #checkBoundary(line: Buffer): DelimiterKind | false {
    const splitter = this.#splitter;
    if (splitter.state === HEAD) this.#endHeadBefore(line);
    const found = this.#open.find(line);
    if (found === undefined) {
      this.#passOver(splitter.node, line);
      return false;
    }
    if (splitter.state === HEAD) this.#endHead(splitter.node);
    this.outside.endBlock();
    this.unsure.endBlock();
    return found.node === splitter.node
      ? this.#takeOwn(found, line)
      : this.#takeOuter(splitter.node, found);
  }

  /** The current multipart has no part yet, since the current node is the part otherwise. */
  #takeOwn({ node, isEnd }: Delimiter<SplitterNode>, line: Buffer): DelimiterKind {
    const reading = this.#readings.get(node);
    if (isEnd) {
      // An end follows at least one part (RFC 2046 §5.1.1), so this is preamble.
      reading?.guess?.push(line);
      if (reading !== undefined) reading.endsEarly = true;
      return END;
    }
    delete reading?.guess;
    if (reading?.endsEarly === true) this.recoveries.add('early_end');
    return CHILD;
  }

  #takeOuter(
    current: SplitterNode,
    { node, depth, isEnd }: Delimiter<SplitterNode>,
  ): DelimiterKind {
    if (this.#open.closeFrom(depth + 1) > 0) this.recoveries.add('inner_not_closed');
    if (isEnd) this.#open.closeFrom(depth);
    current._parentBoundaryOwner = node;
    return isEnd ? OUTER_END : SIBLING;
  }

  /** A line that is no delimiter; in a multipart, it is preamble or epilogue. */
  #passOver(node: SplitterNode, line: Buffer): void {
    // Nothing is guessed about other leaves.
    if (node.multipart === false && node.parentNode !== false) return;
    const reading = this.#readings.get(node);
    const isUnsure = this.isUnsure || reading?.isCorrected === true;
    if (node.multipart !== false) (isUnsure ? this.unsure : this.outside).push(line);
    if (reading?.guess === undefined) return;
    reading.guess.push(line);
    if (node.multipart === false && !reading.guess.isAllDelimiters) delete reading.guess;
  }

  /** A delimiter in the head of its own multipart ends the head. */
  #endHeadBefore(line: Buffer): void {
    const { node } = this.#splitter;
    const text = node._headerlen === 0 ? undefined : delimiterText(line);
    const reading = this.#readings.get(node);
    if (text === undefined || reading === undefined || reading.searches === MAX_SEARCHES) return;
    reading.searches += 1;
    const correction = this.#corrections.get(reading.line);
    const isKnown = correction?.kind === 'boundary';
    const boundary = isKnown ? correction.boundary : this.#parse(node).head.boundary;
    if (boundary !== text) return;
    this.recoveries.add('no_empty_line');
    this.#endHead(node);
    this.#splitter.state = BODY;
  }

  /** Ends a head that has no empty line at its end. */
  #endHead(node: SplitterNode): void {
    if (node._headerlen === 0 || node.headers !== false) return;
    node.parseHeaders();
    this.#splitter.push(node);
    if (this.#text !== undefined) this.#pushText(node);
  }

  #readHead(node: SplitterNode): void {
    const reading = this.#readings.get(node);
    if (node.headers !== false || reading === undefined) return;
    const { head, text } = this.#parse(node);
    if (head.isRepeated) this.recoveries.add('repeated_field');
    if (head.isPadded) this.recoveries.add('other_boundary');
    const correction = this.#corrections.get(reading.line);
    reading.isCorrected = correction !== undefined || head.isPadded;
    if (correction !== undefined && !head.isTyped) this.isUnsure = true;
    const read = correction === undefined ? head : this.#corrected(head, correction);
    this.#describe(node, read);
    const isMultipart = node.multipart !== false;
    reading.isMultipart = isMultipart;
    if (isMultipart) this.#open.add(node, definedOnly([head.boundary, read.boundary]));
    const mayBeMultipart = isMultipart || (node.parentNode === false && !head.isTyped);
    if (mayBeMultipart && correction === undefined) {
      reading.guess = new BoundaryGuess();
      this.#guessed.push(reading);
    }
    if (text === undefined || (read.encoding === 'base64' && !isBase64(text))) return;
    this.recoveries.add('no_empty_line');
    this.#text = text;
  }

  #parse(node: SplitterNode): { readonly head: PartHead; readonly text: Buffer | undefined } {
    const bytes = Buffer.concat(node._headersLines, node._headerlen);
    const isRoot = node.parentNode === false;
    const inDigest = node.parentNode !== false && node.parentNode.multipart === 'digest';
    const lines = readHeadLines(bytes.toString('latin1'), isRoot);
    // A message in a digest whose own head directly follows the delimiter.
    if (inDigest && lines.isOfMessage) return { head: readPartHead([], true), text: bytes };
    if (lines.isMended) this.recoveries.add('unindented_parameter');
    const isBinary = !lines.hasFields && bytes.includes(0);
    const text = lines.bodyAt === undefined || isBinary ? undefined : bytes.subarray(lines.bodyAt);
    return { head: readPartHead(lines.fields, inDigest), text };
  }

  #corrected(head: PartHead, correction: Correction): PartHead {
    if (correction.kind === 'text') {
      this.recoveries.add('no_boundary');
      return { ...head, contentType: correction.contentType, boundary: undefined };
    }
    const { boundary } = correction;
    this.recoveries.add(head.isTyped ? 'other_boundary' : 'no_type');
    return { ...head, ...(!head.isTyped && { contentType: 'multipart/mixed' }), boundary };
  }

  /** Tells the splitter and the parser what they need to know of a head. */
  #describe(node: SplitterNode, head: PartHead): void {
    const { contentType, encoding } = head;
    node.headers = { getList: () => head };
    node._headersLines = [];
    node.contentType = contentType;
    node.multipart = isMultipartType(contentType) && contentType.slice(MULTIPART.length);
    node.getDecoder = () => new DecoderStream(createDecoder(encoding));
  }

  /** At the end of the message, the text follows the node. */
  #withText(next: NextLine): NextLine {
    return (error, piece, flush) => {
      if (this.#text === undefined || !piece || 'value' in piece) {
        next(error, piece, flush);
        return;
      }
      this.#splitter.push(piece);
      this.#pushText(piece);
      next(error, false, flush);
    };
  }

  #pushText(node: SplitterNode): void {
    const text = this.#text ?? EMPTY_LINE;
    this.#text = undefined;
    if (node.multipart === false) this.#splitter.push({ node, type: 'body', value: text });
    else for (const line of linesOf(text)) this.#passOver(node, line);
  }
}

const definedOnly = (boundaries: readonly (string | undefined)[]): ReadonlySet<string> =>
  new Set(boundaries.filter((each) => each !== undefined));

const MULTIPART = 'multipart/';
const isMultipartType = (type: string): boolean => type.startsWith(MULTIPART);

function* linesOf(text: Buffer): Generator<Buffer> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = text.indexOf(0x0a, start) + 1;
    if (end === 0) end = text.length;
    yield text.subarray(start, end);
  }
}

/** Otherwise, it is a broken field rather than the start of an encoded body. */
function isBase64(text: Buffer): boolean {
  return /^[A-Za-z0-9+/=\s]*$/.test(text.toString('latin1'));
}

/** RFC 5322 does not allow it, but other readers take such a line for an empty one. */
function isOnlyCrs(line: Buffer | false): boolean {
  if (line === false || line.length < 3 || line[0] !== 0x0d) return false;
  return line.subarray(0, -1).every((byte) => byte === 0x0d);
}
