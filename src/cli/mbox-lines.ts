import { Transform, type TransformCallback } from 'node:stream';

const LF = 0x0a;

/**
 * A message in the form of an mbox: line ends are LF, and lines that a reader would take for the
 * start of the next message are quoted, as are lines that already look quoted. This is mboxrd, the
 * only mbox variant that is lossless (RFC 4155 leaves the choice open).
 */
export class MboxQuote extends Transform {
  #rest: Buffer = Buffer.alloc(0);
  #endsWithLine = true;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(LF) + 1;
    if (end === 0 && bytes.length > MAX_LINE) {
      // Only the start of a line can need quoting, and it has been checked.
      this.push(quoted(bytes, this.#endsWithLine));
      this.#endsWithLine = false;
      this.#rest = Buffer.alloc(0);
    } else {
      if (end > 0) {
        this.push(quoted(bytes.subarray(0, end), this.#endsWithLine));
        this.#endsWithLine = true;
      }
      this.#rest = bytes.subarray(end);
    }
    done();
  }

  /** Every message ends with a line end and an empty line. */
  override _flush(done: TransformCallback): void {
    if (this.#rest.length > 0) this.push(quoted(this.#rest, this.#endsWithLine));
    const whole = this.#rest.length === 0 && this.#endsWithLine;
    this.push(whole ? '\n' : '\n\n');
    done();
  }
}

const MAX_LINE = 1024 * 1024;

/**
 * Quotes `From `, `>From `, `>>From ` … at the start of a line, and converts CRLF to LF; a CR without a
 * LF is kept.
 * @param atStart whether the bytes begin a line
 */
function quoted(bytes: Buffer, atStart: boolean): Buffer {
  const text = bytes.toString('latin1');
  const first = atStart ? text.replace(/^(?=>*From )/, '>') : text;
  const lines = first.replace(/\n(?=>*From )/g, '\n>').replaceAll('\r\n', '\n');
  return Buffer.from(lines, 'latin1');
}

/**
 * `From ann@example.com Sat Nov 21 23:56:21 2026`: the envelope sender and the time of arrival
 * (UTC).
 */
export function fromLine(sender: string, at: number): string {
  const address = sender.replace(/[\s\p{C}]/gu, '') || 'MAILER-DAEMON';
  // Sat, 21 Nov 2026 23:56:21 GMT
  const [day = '', date = '', month = '', year = '', clock = ''] = new Date(at)
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `From ${address} ${day} ${month} ${date.padStart(2, ' ')} ${clock} ${year}\n`;
}
