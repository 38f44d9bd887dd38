import { Transform, type TransformCallback } from 'node:stream';

const EQUALS = 0x3d;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** A longer line is decoded in pieces; real ones have 76 characters. */
const MAX_LINE = 64 * 1024;

/**
 * Decodes quoted-printable as a stream, in linear time and line by line; libqp takes the whole part
 * into memory, and quadratic time for long runs of spaces.
 */
export class QuotedPrintableDecoder extends Transform {
  /** The start of a line whose end has not arrived. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) {
      this.#hold(chunk.subarray(0, end));
      this.push(decodeLines(this.#takeHeld()));
    }
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    if (this.#heldBytes > MAX_LINE) {
      const line = this.#takeHeld();
      const out = Buffer.allocUnsafe(line.length);
      const end = endOfEscapes(line);
      this.push(out.subarray(0, decodeInto(out, 0, line, 0, end)));
      this.#hold(line.subarray(end));
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, decodeLines(this.#takeHeld()));
  }

  #hold(bytes: Buffer): void {
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
