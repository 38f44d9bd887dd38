import { Transform, type TransformCallback } from 'node:stream';

/**
 * Decodes base64 as a stream. Characters outside of its alphabet are skipped (RFC 2045 §6.8);
 * libbase64 takes 8-bit ones for others. Padding ends a unit: some programs pad every line.
 */
export class Base64Decoder extends Transform {
  /** Characters that do not fill a group of four. */
  #rest = '';

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const text = chunk.toString('latin1');
    const found = /[^A-Za-z0-9+/]/.test(text) ? text.replace(/[^A-Za-z0-9+/=]+/g, '') : text;
    const units = (this.#rest + found).split(/=+/);
    const last = units.pop() ?? '';
    const whole = last.length - (last.length % 4);
    this.#rest = last.slice(whole);
    const decoded = [...units, last.slice(0, whole)].map(decodeUnit);
    done(null, decoded.length === 1 ? decoded[0] : Buffer.concat(decoded));
  }

  override _flush(done: TransformCallback): void {
    done(null, decodeUnit(this.#rest));
  }
}

const decodeUnit = (unit: string): Buffer => Buffer.from(unit, 'base64');
