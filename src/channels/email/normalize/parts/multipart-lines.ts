/** The multipart to which a delimiter line belongs (RFC 2046 §5.1.1). */
export interface Delimiter<Node> {
  readonly node: Node;
  /** How many open multiparts contain it. */
  readonly depth: number;
  /** It ends the multipart. */
  readonly isEnd: boolean;
}

/**
 * The multiparts whose end has not been reached, and their delimiters.
 *
 * White space may follow a delimiter (RFC 2046 §5.1.1, transport padding). One of an outer multipart
 * counts wherever it occurs (§5.1.2). If several multiparts have the same boundary, or one boundary
 * is another one with two dashes, the innermost counts. The time to find one depends on the length
 * of the line only, not on how many are open.
 */
export class OpenMultiparts<Node> {
  /** From the outermost to the innermost. */
  readonly #open: { readonly node: Node; readonly boundaries: ReadonlySet<string> }[] = [];
  /** The positions of each boundary in `#open`. */
  readonly #depths = new Map<string, number[]>();

  /** `boundaries`: one character per byte; several if its lines differ from what it declares. */
  add(node: Node, boundaries: ReadonlySet<string>): void {
    for (const boundary of boundaries) {
      const depths = this.#depths.get(boundary) ?? [];
      depths.push(this.#open.length);
      this.#depths.set(boundary, depths);
    }
    this.#open.push({ node, boundaries });
  }

  /** Undefined for a line that is no delimiter. */
  find(line: Buffer): Delimiter<Node> | undefined {
    if (this.#open.length === 0) return undefined;
    const text = delimiterText(line);
    if (text === undefined) return undefined;
    const opens = this.#innermost(text);
    const ends = text.endsWith('--') ? this.#innermost(text.slice(0, -2)) : -1;
    const depth = Math.max(opens, ends);
    const found = this.#open[depth];
    return found === undefined ? undefined : { node: found.node, depth, isEnd: ends > opens };
  }

  /** Closes all that are open at this depth and deeper; returns how many there were. */
  closeFrom(depth: number): number {
    const closed = Math.max(0, this.#open.length - depth);
    for (let count = 0; count < closed; count += 1) {
      for (const boundary of this.#open.pop()?.boundaries ?? []) {
        const depths = this.#depths.get(boundary);
        depths?.pop();
        if (depths?.length === 0) this.#depths.delete(boundary);
      }
    }
    return closed;
  }

  #innermost(boundary: string): number {
    return this.#depths.get(boundary)?.at(-1) ?? -1;
  }
}

const DASH = 0x2d;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * What follows the two dashes at the start of a line, one character per byte, without white space
 * at its end; undefined for other lines. The end of the line before may precede it.
 */
export function delimiterText(line: Buffer): string | undefined {
  let start = 0;
  while (start < 2 && (line[start] === CR || line[start] === LF)) start += 1;
  if (line[start] !== DASH || line[start + 1] !== DASH) return undefined;
  let end = line.length;
  while (end > start + 2 && isBlank(line[end - 1])) end -= 1;
  return line.toString('latin1', start + 2, end);
}

function isBlank(byte: number | undefined): boolean {
  return byte === CR || byte === LF || byte === SPACE || byte === TAB;
}

/** Of a message; the rest is not kept. */
const MAX_OUTSIDE_BYTES = 64 * 1024;
/** What programs write for readers without MIME, in any language. */
const NOTICE = /\bmime\b|multi-?part/i;
const MAX_NOTICE_LENGTH = 600;
/** A header field is no notice. */
const FIELD = /^[^\s]{0,60}:/m;
const NO_TEXT = Buffer.alloc(0);
const EMPTY_LINES = Buffer.from('\r\n\r\n');

/** Whether text, of one character per byte, is nothing that a person wrote: blank, or a notice. */
function isNotice(text: string): boolean {
  const shown = text.trim();
  if (shown === '') return true;
  return shown.length <= MAX_NOTICE_LENGTH && NOTICE.test(shown) && !FIELD.test(shown);
}

/**
 * The text before the first and after the last part of a multipart (preamble and epilogue, RFC 2046
 * §5.1.1), which mail programs do not show.
 */
export class OutsideText {
  readonly #lines: Buffer[] = [];
  #bytes = 0;
  #blockEnded = false;
  #isCut = false;

  push(line: Buffer): void {
    if (this.#bytes + line.length > MAX_OUTSIDE_BYTES) {
      this.#isCut ||= !isNotice(line.toString('latin1', 0, MAX_NOTICE_LENGTH));
      return;
    }
    this.#bytes += line.length;
    if (this.#blockEnded) this.#lines.push(EMPTY_LINES);
    this.#blockEnded = false;
    // Copied, because a line is a view of everything that was read with it.
    this.#lines.push(Buffer.from(line));
  }

  /** What follows does not continue the last line. */
  endBlock(): void {
    this.#blockEnded = this.#bytes > 0;
  }

  /** Not all of it was kept. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** What a person may have written; empty if there is nothing. */
  text(): Buffer {
    if (this.#bytes === 0) return NO_TEXT;
    const paragraphs = Buffer.concat(this.#lines)
      .toString('latin1')
      .split(/(?:\r?\n[ \t]*){2,}/)
      .filter((paragraph) => !isNotice(paragraph));
    return Buffer.from(paragraphs.join('\r\n\r\n').trim(), 'latin1');
  }
}

/** How a multipart without a part is read instead. */
export type Correction =
  | { readonly kind: 'boundary'; readonly boundary: string }
  | { readonly kind: 'text'; readonly contentType: 'text/plain' | 'text/html' };

/** RFC 2046 §5.1.1 allows 70 characters; some programs write more. */
const MAX_BOUNDARY_LENGTH = 200;
/** Different ones per multipart. */
const MAX_CANDIDATES = 50;
/** The fields with which nearly every part begins. */
const CONTENT_FIELD = /^content-[a-z-]{1,40}[ \t]{0,10}:/i;
const HTML = /^\s{0,100}<(?:!doctype\s|html|head|body|meta|table|div|p|!--)/i;
const START_LENGTH = 400;

interface Candidate {
  ends: number;
  /** How often a field of a part follows it. */
  heads: number;
}

/**
 * Finds how to read a multipart in which no delimiter of its own occurs: with the boundary that its
 * lines use, otherwise as text.
 */
export class BoundaryGuess {
  readonly #candidates = new Map<string, Candidate>();
  /** Of the line before. */
  #last: Candidate | undefined;
  /** The start of the first line that a person may have written. */
  #text: string | undefined;

  /** Takes the next line of the multipart. */
  push(line: Buffer): void {
    const last = this.#last;
    this.#last = undefined;
    const start = line.toString('latin1', 0, START_LENGTH);
    if (last !== undefined && CONTENT_FIELD.test(start)) last.heads += 1;
    const text = line.length > MAX_BOUNDARY_LENGTH ? undefined : delimiterText(line);
    if (text !== undefined && isBoundary(text)) this.#pushCandidate(text);
    if (this.#text === undefined && !isNotice(start)) this.#text = start;
  }

  /** No line but a delimiter and notices was found. */
  get isAllDelimiters(): boolean {
    return this.#text?.startsWith('--') ?? true;
  }

  /** The boundary that a field of a part follows, or that has an end; undefined if there is none. */
  get boundary(): string | undefined {
    const found = [...this.#candidates].find(([, { heads, ends }]) => heads > 0 || ends > 0);
    return found?.[0];
  }

  /** Undefined if there is nothing to read. */
  correction(): Correction | undefined {
    const { boundary } = this;
    if (boundary !== undefined) return { kind: 'boundary', boundary };
    if (this.#text === undefined) return undefined;
    return { kind: 'text', contentType: HTML.test(this.#text) ? 'text/html' : 'text/plain' };
  }

  #pushCandidate(text: string): void {
    const ended = text.endsWith('--') ? this.#candidates.get(text.slice(0, -2)) : undefined;
    if (ended !== undefined) ended.ends += 1;
    const candidate = this.#candidates.get(text) ?? { ends: 0, heads: 0 };
    this.#last = candidate;
    if (this.#candidates.size < MAX_CANDIDATES) this.#candidates.set(text, candidate);
  }
}

/** Printable, with a letter or digit, which distinguishes it from a ruled line. */
function isBoundary(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,200}[\x21-\x7e])?$/.test(text) && /[a-z0-9]/i.test(text);
}
