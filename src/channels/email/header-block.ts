import { isAscii, isUtf8 } from 'node:buffer';
import { decodeText } from './normalize/body/charset.ts';
import { withQuotedBytes } from './normalize/head/encoded-words.ts';

/** Only this much of a header block is read; the rest counts as body. */
export const MAX_HEADER_BYTES = 128 * 1024;

/** More than a message has. Each costs a decoder of its own, so that the others stay as they are. */
const MAX_DECODED_FIELDS = 500;

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
/**
 * The line ending. A CR without a LF ends lines only if it ends the first line. Otherwise it is
 * text: a CR in a subject must not start a header field.
 */
type LineEnds = 'lf' | 'cr';
/** The name of a field, and its colon; a line without one is not a header field. */
export const FIELD_NAME = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/;

/** The header fields of one message. Names are case-insensitive. */
export interface HeaderBlock {
  /** The unfolded raw values (with encoded words as received), in the order of the message. */
  all(name: string): readonly string[];
  first(name: string): string | undefined;
  count(name: string): number;
  /** The size of the block in the message, including the empty line. */
  readonly byteLength: number;
  /** The block is longer than `MAX_HEADER_BYTES`. */
  readonly truncated: boolean;
}

/** A message-id of 998 characters is legal but useless as a key (RFC 5322 §2.1.1). */
const MAX_MESSAGE_ID_BYTES = 255;
const MESSAGE_ID = /<[^<>\s\p{Cc}]+>/gu;

/**
 * The Message-ID in angle brackets, if the first Message-ID header contains exactly one valid id.
 */
export function messageIdOf(head: HeaderBlock): string | undefined {
  const found = head.first('message-id')?.slice(0, 2000).match(MESSAGE_ID) ?? [];
  const [id, second] = found;
  if (id === undefined || second !== undefined) return undefined;
  return Buffer.byteLength(id) <= MAX_MESSAGE_ID_BYTES ? id : undefined;
}

/**
 * Parses the header block at the start of a message (RFC 5322 §2.2). Tolerant: lines may end in
 * CRLF or LF, or all in CR; lines that are not header fields are skipped; a field with raw bytes is
 * UTF-8 if it is valid, otherwise in the message's charset, otherwise windows-1252. Linear, and
 * limited by `MAX_HEADER_BYTES`.
 * @param charset of the body; by default, the one that the block declares
 */
export function parseHeaderBlock(bytes: Uint8Array, charset?: string): HeaderBlock {
  const collector = new HeaderCollector();
  collector.push(bytes);
  return collector.finish(charset);
}

/**
 * Whether the lines of a message end in CR alone, judged by its start: the first line ends so, as
 * for the header block, and no other line ends in LF, except for the last one.
 */
export function endsLinesInCr(start: Uint8Array): boolean {
  let at = 0;
  while (at < start.length && start[at] !== CR && start[at] !== LF) at += 1;
  if (start[at] !== CR) return false;
  const end = Math.min(at + MAX_FIRST_LINES, start.length - 2);
  return at < end && !start.subarray(at, end).includes(LF);
}

const MAX_FIRST_LINES = 64 * 1024;

/** Finds the header block in a message that arrives in chunks, reading each byte once. */
export class HeaderCollector {
  readonly #chunks: Uint8Array[] = [];
  #byteLength = 0;
  #complete = false;
  #truncated = false;
  #lineEnds: LineEnds | undefined;
  /** The current line has contained only CRs so far. */
  #lineEmpty = true;
  /** CRs at the end of the first line, while it is incomplete. */
  #crs = 0;
  #afterCr = false;

  /** The empty line that ends the block, or the limit, was reached. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Bytes that belong to the block so far. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /**
   * Takes the next bytes and returns how many of them belong to the header block, including the
   * empty line. The rest is body.
   */
  push(chunk: Uint8Array): number {
    if (this.#complete) return 0;
    const room = MAX_HEADER_BYTES - this.#byteLength;
    const scanned = chunk.length > room ? chunk.subarray(0, room) : chunk;
    const end = this.#findEnd(scanned);
    const taken = end ?? scanned.length;
    this.#byteLength += taken;
    this.#truncated = end === undefined && this.#byteLength === MAX_HEADER_BYTES;
    this.#complete = end !== undefined || this.#truncated;
    if (taken > 0) this.#chunks.push(chunk.subarray(0, taken));
    return taken;
  }

  /**
   * The fields that were collected; a message may end without an empty line.
   * @param charset of the body; by default, the one that the block declares
   */
  finish(charset?: string): HeaderBlock {
    const bytes = this.#chunks.length === 1 ? view(this.#chunks) : Buffer.concat(this.#chunks);
    const text = decode(this.#lineEnds === 'cr' ? withLf(bytes) : bytes, charset);
    return readFields(text, bytes.length, this.#truncated);
  }

  /**
   * The position after the empty line that ends the block; undefined if it is not in this chunk.
   */
  #findEnd(chunk: Uint8Array): number | undefined {
    if (chunk.length === 0) return undefined;
    if (this.#lineEnds === undefined) return this.#findLineEnds(chunk);
    return this.#lineEnds === 'cr' ? this.#findEndByCr(chunk, 0) : this.#findEndByLf(chunk, 0);
  }

  /** While the first line is incomplete: finds the line ending, then the end of the block. */
  #findLineEnds(chunk: Uint8Array): number | undefined {
    let at = 0;
    if (this.#crs === 0) {
      while (at < chunk.length && chunk[at] !== CR && chunk[at] !== LF) at += 1;
      if (at > 0) this.#lineEmpty = false;
    }
    for (; chunk[at] === CR; at += 1) this.#crs += 1;
    if (at === chunk.length) return undefined;
    if (this.#crs === 0 || chunk[at] === LF) {
      this.#lineEnds = 'lf';
      return this.#findEndByLf(chunk, at);
    }
    this.#lineEnds = 'cr';
    if (this.#lineEmpty || this.#crs > 1) return at;
    this.#lineEmpty = true;
    return this.#findEndByCr(chunk, at);
  }

  #findEndByLf(chunk: Uint8Array, from: number): number | undefined {
    let at = from;
    for (let lf = chunk.indexOf(LF, at); lf !== -1; lf = chunk.indexOf(LF, at)) {
      if (this.#lineEmpty && onlyCr(chunk, at, lf)) return lf + 1;
      at = lf + 1;
      this.#lineEmpty = true;
    }
    this.#lineEmpty = this.#lineEmpty && onlyCr(chunk, at, chunk.length);
    return undefined;
  }

  #findEndByCr(chunk: Uint8Array, from: number): number | undefined {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const afterCr = this.#afterCr;
      this.#afterCr = byte === CR;
      if (byte === LF && afterCr) continue;
      const endsLine = byte === CR || byte === LF;
      if (endsLine && this.#lineEmpty) return at + 1;
      this.#lineEmpty = endsLine;
    }
    return undefined;
  }
}

const NONE: readonly string[] = [];

function readFields(text: string, byteLength: number, truncated: boolean): HeaderBlock {
  /** Fields are unfolded on demand, because most are never read. */
  const folded = new Map<string, string[]>();
  for (let start = 0; start < text.length;) {
    const end = fieldEnd(text, start);
    const field = text.slice(start, end);
    const name = FIELD_NAME.exec(field);
    if (name?.[1] !== undefined) {
      const key = name[1].toLowerCase();
      const value = field.slice(name[0].length);
      const values = folded.get(key);
      if (values === undefined) folded.set(key, [value]);
      else values.push(value);
    }
    start = end;
  }
  const unfolded = new Map<string, readonly string[]>();
  const all = (name: string): readonly string[] => {
    const key = name.toLowerCase();
    const values = folded.get(key);
    if (values === undefined) return NONE;
    const known = unfolded.get(key) ?? values.map(unfold);
    unfolded.set(key, known);
    return known;
  };
  return {
    all,
    first: (name) => all(name)[0],
    count: (name) => folded.get(name.toLowerCase())?.length ?? 0,
    byteLength,
    truncated,
  };
}

/**
 * Most header blocks are ASCII or UTF-8. In others, each field is decoded separately, because a
 * block may mix charsets.
 */
function decode(bytes: Buffer, charset: string | undefined): string {
  const encoding = isAscii(bytes) ? 'latin1' : isUtf8(bytes) ? 'utf8' : undefined;
  const whole = encoding === undefined ? undefined : bytes.toString(encoding);
  // An escape may begin ISO-2022-JP.
  if (whole?.includes('\x1b') === false) return whole;
  const places = bytes.toString('latin1');
  const ofBody = charset ?? declaredCharset(places);
  let text = '';
  let start = 0;
  for (let fields = 0; start < bytes.length && fields < MAX_DECODED_FIELDS; fields += 1) {
    const end = fieldEnd(places, start);
    text += decodeField(bytes.subarray(start, end), ofBody);
    start = end;
  }
  return text + places.slice(start);
}

function decodeField(field: Buffer, charset: string | undefined): string {
  if (!field.includes(ESC)) {
    if (isAscii(field)) return field.toString('latin1');
    if (isUtf8(field)) return field.toString('utf8');
  }
  return decodeText(Buffer.from(withQuotedBytes(field.toString('latin1')), 'latin1'), charset);
}

/** The charset of the block's own Content-Type. */
function declaredCharset(block: string): string | undefined {
  const start = block.search(/^content-type[ \t]{0,20}:/im);
  if (start === -1) return undefined;
  const field = block.slice(start, Math.min(fieldEnd(block, start), start + 2000));
  return /charset\s{0,5}=\s{0,5}["']?([\w.:+-]{1,40})/i.exec(field)?.[1];
}

/** The end of the field that starts here: lines that begin with white space continue it. */
function fieldEnd(text: string, start: number): number {
  let at = start;
  for (;;) {
    const end = text.indexOf('\n', at);
    if (end === -1) return text.length;
    at = end + 1;
    if (text[at] !== ' ' && text[at] !== '\t') return at;
  }
}
/** RFC 5322 §2.2.3. A line break without white space after it is text within the value: a space. */
function unfold(value: string): string {
  const trimmed = value.trim();
  return trimmed.replace(/[\r\n]+/g, (lineEnds: string, at: number) => {
    const next = trimmed[at + lineEnds.length];
    return next === ' ' || next === '\t' ? '' : ' ';
  });
}

function onlyCr(chunk: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (chunk[at] !== CR) return false;
  return true;
}

function withLf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1');
}

/** The same bytes as a Buffer, without a copy. */
function view([bytes = new Uint8Array()]: readonly Uint8Array[]): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
