import { delimiterText } from './delimiters.ts';
import { isNotice } from './outside-text.ts';

/** How a multipart without a part is read instead. */
export type Correction =
  | { readonly kind: 'boundary'; readonly boundary: string }
  | { readonly kind: 'text'; readonly contentType: 'text/plain' | 'text/html' };

/** RFC 2046 §5.1.1 allows 70 characters; some programs write more. */
const MAX_LENGTH = 200;
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
    const text = line.length > MAX_LENGTH ? undefined : delimiterText(line);
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
