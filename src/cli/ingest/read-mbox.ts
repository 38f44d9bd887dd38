import type { Hints, MessagePosition, MessageReceiver } from './message-position.ts';

const LF = 0x0a;
const CR = 0x0d;
const GT = 0x3e;
const FROM = Buffer.from('From ');
/**
 * `From ann@example.com Sat Nov 21 23:56:21 2026`, with or without a zone, as any program writes
 * it.
 */
const START = /^From (\S*)\s+(\S.*)$/;
const MAX_START_BYTES = 1000;

/**
 * Reads an mbox of any size (mboxrd and other variants): a message begins at a `From ` line with a
 * time, at the start of the file or after an empty line. A `>` before `From ` is removed. Only the
 * start of one line is held in memory.
 *
 * The package mbox-reader is not used: it holds each message, and a file without a `From ` line, in
 * memory as text, takes every line with `From ` for a message, and does not report positions.
 */
export async function readMbox(
  file: string,
  chunks: AsyncIterable<Buffer>,
  receiver: MessageReceiver,
): Promise<void> {
  const reader = new MboxReader(file, receiver);
  for await (const chunk of chunks) {
    await reader.push(chunk);
    receiver.advance(chunk.length);
  }
  await reader.end();
}

class MboxReader {
  readonly #file: string;
  readonly #receiver: MessageReceiver;
  #held: Buffer = Buffer.alloc(0);
  /** The offset of `#held` in the file. */
  #offset = 0;
  #inMessage = false;
  /** The previous line was empty: it belongs to the message unless a new one begins here. */
  #emptyLine: Buffer | undefined;
  #atStart = true;
  /** Content before the first message was reported. */
  #reportedLeading = false;
  /** Within a line whose start has already been passed on. */
  #midLine = false;

  constructor(file: string, receiver: MessageReceiver) {
    this.#file = file;
    this.#receiver = receiver;
  }

  async push(chunk: Buffer): Promise<void> {
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let plain = 0;
    let at = 0;
    // Ordinary lines are passed on together.
    for (;;) {
      const lf = bytes.indexOf(LF, at);
      if (lf === -1) break;
      const next = lf + 1;
      const special = !this.#midLine && this.#isSpecial(bytes, at, next);
      if (!special && this.#emptyLine === undefined) {
        this.#midLine = false;
        this.#atStart = false;
        at = next;
        continue;
      }
      await this.#write(bytes.subarray(plain, at));
      await this.#line(bytes.subarray(at, next), this.#offset + at);
      plain = at = next;
    }
    await this.#write(bytes.subarray(plain, at));
    bytes = bytes.subarray(at);
    this.#offset += at;
    // Only the start of a long line matters.
    if (bytes.length > MAX_START_BYTES) {
      if (!this.#midLine) await this.#line(bytes, this.#offset);
      else await this.#write(bytes);
      this.#midLine = true;
      this.#offset += bytes.length;
      bytes = bytes.subarray(bytes.length);
    }
    this.#held = Buffer.from(bytes);
  }

  async end(): Promise<void> {
    if (this.#held.length > 0) {
      if (this.#midLine) await this.#write(this.#held);
      else await this.#line(this.#held, this.#offset);
    }
    if (this.#inMessage) await this.#receiver.end();
  }

  /** An empty line, a `From ` line, or a quoted one. */
  #isSpecial(bytes: Buffer, at: number, next: number): boolean {
    const first = bytes[at];
    if (first === LF || (first === CR && next === at + 2)) return true;
    return first === 0x46 ? startsWithFrom(bytes, at) : first === GT;
  }

  /** Handles one whole line, or the start of a long one. */
  async #line(line: Buffer, offset: number): Promise<void> {
    const mayStart = this.#atStart || this.#emptyLine !== undefined;
    const hints = mayStart && startsWithFrom(line, 0) ? startOf(line) : undefined;
    this.#midLine = false;
    this.#atStart = false;
    if (hints !== undefined) {
      this.#emptyLine = undefined;
      if (this.#inMessage) await this.#receiver.end();
      this.#inMessage = true;
      const position: MessagePosition = { file: this.#file, offset };
      this.#receiver.begin(position, hints);
      return;
    }
    const held = this.#emptyLine;
    this.#emptyLine = undefined;
    if (held !== undefined) await this.#write(held);
    if (isEmpty(line)) this.#emptyLine = Buffer.from(line);
    else await this.#write(isQuotedFrom(line) ? line.subarray(1) : line);
  }

  async #write(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    if (!this.#inMessage) {
      this.#reportLeading(bytes);
      return;
    }
    const wait = this.#receiver.write(bytes);
    if (wait !== undefined) await wait;
  }

  #reportLeading(bytes: Buffer): void {
    if (this.#reportedLeading || isBlank(bytes)) return;
    this.#reportedLeading = true;
    const position: MessagePosition = { file: this.#file, offset: 0 };
    this.#receiver.fail(
      position,
      'it does not begin with a "From " line with a time, as an mbox does',
    );
  }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte <= 0x20);

const startsWithFrom = (bytes: Buffer, at: number): boolean =>
  bytes.length >= at + FROM.length &&
  bytes.compare(FROM, 0, FROM.length, at, at + FROM.length) === 0;

function isQuotedFrom(line: Buffer): boolean {
  let at = 0;
  while (line[at] === GT) at += 1;
  return at > 0 && startsWithFrom(line, at);
}

const isEmpty = (line: Buffer): boolean =>
  (line.length === 1 && line[0] === LF) || (line.length === 2 && line[0] === CR && line[1] === LF);

function startOf(line: Buffer): Hints | undefined {
  const text = line.subarray(0, MAX_START_BYTES).toString('latin1').trimEnd();
  const [, sender = '', when = ''] = START.exec(text) ?? [];
  if (!/\d:\d\d/.test(when)) return undefined;
  const zoned = /[+-]\d{4}|\b(?:[A-Z]{3,4}|Z)\s*(?:\d{4})?$/.test(when) ? when : `${when} +0000`;
  const at = Date.parse(zoned);
  return {
    sender: sender === 'MAILER-DAEMON' || !sender.includes('@') ? '' : sender,
    ...(!Number.isNaN(at) && { receivedAt: at }),
  };
}
