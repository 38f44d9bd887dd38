import { createHash } from 'node:crypto';
import { idOfRaw, MessageSink, type StoredMessage } from '../../channels/email/receive.ts';
import {
  type HeaderBlock,
  HeaderCollector,
  messageIdOf,
} from '../../channels/email/header-block.ts';
import type { BlobStore } from '../../spool/blobs.ts';

/** A message that is being read: written piece by piece, then stored. */
export interface Incoming {
  readonly size: number;
  /** If it returns a promise, wait for it before the next write. */
  write(bytes: Buffer): Promise<void> | undefined;
  head(): HeaderBlock;
  /** The sink that stores the message; undefined if nothing is stored. */
  readonly sink?: MessageSink;
  /** The identity of the message, without storing it. */
  identify(): StoredMessage;
  abort(): Promise<void>;
}

export function incomingInto(blobs: BlobStore): Incoming {
  const sink = new MessageSink(blobs);
  return {
    sink,
    get size() {
      return sink.size;
    },
    write: (bytes) =>
      // The sink keeps the bytes until its end, so a view into the reader's buffer has to be
      // copied.
      sink.write(Buffer.from(bytes))
        ? undefined
        : new Promise((resolve) => {
            sink.whenReady(resolve);
          }),
    head: () => sink.head(),
    identify: () => {
      throw new Error('the sink has the identity of a stored message');
    },
    abort: () => sink.abort(),
  };
}

/** For a dry run: reads a message and stores nothing. */
export function incomingIntoNothing(): Incoming {
  const header = new HeaderCollector();
  const body = createHash('sha256');
  const whole = createHash('sha256');
  let size = 0;
  let finished: HeaderBlock | undefined;
  const head = () => (finished ??= header.finish());
  return {
    get size() {
      return size;
    },
    write(bytes) {
      size += bytes.length;
      whole.update(bytes);
      body.update(bytes.subarray(header.push(bytes)));
      return undefined;
    },
    head,
    identify: () => ({
      head: head(),
      size,
      raw: { kind: 'inline', bytes: new Uint8Array() },
      remoteId: messageIdOf(head()) ?? idOfRaw(whole.digest('hex')),
      bodySha256: body.digest('hex'),
    }),
    abort: () => Promise.resolve(),
  };
}

const CR = 0x0d;
const LF = 0x0a;

/**
 * Converts the line ends of a file to those of SMTP (RFC 5321 §2.3.8): a LF without a CR becomes
 * CRLF. A message that was received by SMTP, written to a file and ingested again has the same
 * bytes.
 */
export class LineEnds {
  #afterCr = false;
  /** Undefined before the first write. */
  #last: number | undefined;

  /** The missing part of the last line end: every message received by SMTP ends with one. */
  end(): Buffer {
    if (this.#last === undefined || this.#last === LF) return Buffer.alloc(0);
    return Buffer.from(this.#last === CR ? '\n' : '\r\n');
  }

  convert(bytes: Buffer): Buffer {
    const missing = this.#countMissing(bytes);
    const last = bytes.at(-1);
    this.#last = last ?? this.#last;
    if (missing === 0) {
      this.#afterCr = last === undefined ? this.#afterCr : last === CR;
      return bytes;
    }
    const made = Buffer.allocUnsafe(bytes.length + missing);
    let length = 0;
    let from = 0;
    let afterCr = this.#afterCr;
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
      const hasCr = at === 0 ? afterCr : bytes[at - 1] === CR;
      if (hasCr) continue;
      length += bytes.copy(made, length, from, at);
      made[length] = CR;
      length += 1;
      from = at;
    }
    length += bytes.copy(made, length, from);
    afterCr = last === CR;
    this.#afterCr = afterCr;
    return made.subarray(0, length);
  }

  #countMissing(bytes: Buffer): number {
    let missing = 0;
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
      const hasCr = at === 0 ? this.#afterCr : bytes[at - 1] === CR;
      if (!hasCr) missing += 1;
    }
    return missing;
  }
}
