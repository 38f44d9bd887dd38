import { EventEmitter } from 'node:events';
import type { Encoding } from './part-head.ts';

const EQUALS = 0x3d;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** Decodes a part's content (RFC 2045 §6) in the pieces in which it arrives, in linear time. */
export interface Decoder {
  decode(piece: Buffer): Buffer;
  /** What was held back, because more of it could have followed. */
  end(): Buffer;
}

export function createDecoder(encoding: Encoding): Decoder {
  if (encoding === 'identity') return AS_IT_IS;
  return encoding === 'base64' ? new Base64Decoder() : new QuotedPrintableDecoder();
}

const NOTHING = Buffer.alloc(0);
const AS_IT_IS: Decoder = { decode: (piece) => piece, end: () => NOTHING };

/**
 * Characters outside of base64's alphabet are skipped (RFC 2045 §6.8); libbase64 takes 8-bit ones
 * for others. Padding ends a unit: some programs pad every line.
 */
class Base64Decoder implements Decoder {
  /** Characters that do not fill a group of four. */
  #rest = '';

  decode(piece: Buffer): Buffer {
    const text = piece.toString('latin1');
    const found = /[^A-Za-z0-9+/]/.test(text) ? text.replace(/[^A-Za-z0-9+/=]+/g, '') : text;
    const units = (this.#rest + found).split(/=+/);
    const last = units.pop() ?? '';
    const whole = last.length - (last.length % 4);
    this.#rest = last.slice(whole);
    const decoded = [...units, last.slice(0, whole)].map(decodeUnit);
    const [only, ...others] = decoded;
    return only !== undefined && others.length === 0 ? only : Buffer.concat(decoded);
  }

  end(): Buffer {
    return decodeUnit(this.#rest);
  }
}

const decodeUnit = (unit: string): Buffer => Buffer.from(unit, 'base64');

/** A longer line is decoded in pieces; real ones have 76 characters. */
const MAX_LINE = 64 * 1024;

/** Line by line; libqp takes the whole part into memory, and quadratic time for runs of spaces. */
class QuotedPrintableDecoder implements Decoder {
  /** The start of a line whose end has not arrived. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  decode(piece: Buffer): Buffer {
    const end = piece.lastIndexOf(LF) + 1;
    if (end > 0) {
      this.#hold(piece.subarray(0, end));
      const lines = decodeLines(this.#takeHeld());
      this.#hold(piece.subarray(end));
      return lines;
    }
    this.#hold(piece);
    if (this.#heldBytes <= MAX_LINE) return NOTHING;
    const line = this.#takeHeld();
    const endOfWhole = endOfEscapes(line);
    this.#hold(line.subarray(endOfWhole));
    const out = Buffer.allocUnsafe(endOfWhole);
    return out.subarray(0, decodeInto(out, 0, line, 0, endOfWhole));
  }

  end(): Buffer {
    return decodeLines(this.#takeHeld());
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
  }

  #takeHeld(): Buffer {
    const [only, ...others] = this.#held;
    const bytes = only !== undefined && others.length === 0 ? only : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return bytes;
  }
}

/**
 * Decodes whole lines of quoted-printable (RFC 2045 §6.7). White space at the end of a line is
 * removed (rule 3), also after the `=` of a soft line break. What is no escape is kept.
 */
export function decodeLines(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let start = 0, next = 0; start < bytes.length; start = next) {
    const lf = bytes.indexOf(LF, start);
    next = lf === -1 ? bytes.length : lf + 1;
    const lineEnd = endWithout(bytes, start, next, isLineEnd);
    const end = endWithout(bytes, start, lineEnd, isBlank);
    const isSoft = end > start && bytes[end - 1] === EQUALS;
    length += decodeInto(out, length, bytes, start, isSoft ? end - 1 : end);
    if (!isSoft) length += bytes.copy(out, length, lineEnd, next);
  }
  return out.subarray(0, length);
}

/** Decodes a piece of a line into `out`; returns the number of bytes written. */
function decodeInto(out: Buffer, at: number, bytes: Buffer, start: number, end: number): number {
  let length = at;
  for (let from = start; from < end; from += 1) {
    let byte = bytes[from] ?? 0;
    if (byte === EQUALS && from + 2 < end) {
      const high = hexValue(bytes[from + 1]);
      const low = hexValue(bytes[from + 2]);
      if (high !== -1 && low !== -1) {
        byte = (high << 4) | low;
        from += 2;
      }
    }
    out[length] = byte;
    length += 1;
  }
  return length - at;
}

/** An escape at the end may be incomplete. */
function endOfEscapes(bytes: Buffer): number {
  const equals = bytes.lastIndexOf(EQUALS);
  return equals === -1 || equals < bytes.length - 2 ? bytes.length : equals;
}

function endWithout(
  bytes: Buffer,
  start: number,
  end: number,
  leftOut: (byte: number | undefined) => boolean,
): number {
  let at = end;
  while (at > start && leftOut(bytes[at - 1])) at -= 1;
  return at;
}

const isLineEnd = (byte: number | undefined): boolean => byte === CR || byte === LF;
const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB;

/** -1 if it is not a hexadecimal digit. */
function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * The decoder of a part as mailparser uses one: it writes what arrives, and reads what is decoded
 * when it can pass it on. No stream of Node's, of which one per part took 6 % of the time for a small
 * message.
 */
export class DecoderStream extends EventEmitter<{ readable: []; drain: []; end: [] }> {
  writable = true;
  readonly #decoder: Decoder;
  readonly #decoded: Buffer[] = [];
  #awaitsDrain = false;
  #hasEnded = false;

  constructor(decoder: Decoder) {
    super();
    this.#decoder = decoder;
  }

  /** False if `drain` has to be awaited. */
  write(piece: Buffer): boolean {
    this.#offer(this.#decoder.decode(piece));
    this.#awaitsDrain = this.#decoded.length > 0;
    return !this.#awaitsDrain;
  }

  /** May be called again. */
  end(): void {
    if (!this.writable) return;
    this.writable = false;
    this.#offer(this.#decoder.end());
  }

  /** The next decoded bytes; null if there are none so far. */
  read(): Buffer | null {
    const next = this.#decoded.shift();
    if (next !== undefined) return next;
    if (this.#awaitsDrain) {
      this.#awaitsDrain = false;
      this.emit('drain');
    }
    if (!this.writable && !this.#hasEnded) {
      this.#hasEnded = true;
      this.emit('end');
    }
    return null;
  }

  #offer(decoded: Buffer): void {
    if (decoded.length > 0) this.#decoded.push(decoded);
    this.emit('readable');
  }
}
