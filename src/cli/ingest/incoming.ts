import { createHash } from 'node:crypto';
import { MessageSink, type StoredMessage } from '../../channels/email/receive.ts';
import { idOfRaw, messageIdOf } from '../../channels/email/identity.ts';
import { type HeaderBlock, HeaderCollector } from '../../channels/email/header-block.ts';
import type { BlobStore } from '../../spool/blobs.ts';

/** A message on its way in: written piece by piece, then stored. */
export interface Incoming {
  readonly size: number;
  /** A promise: wait for it before more is written. */
  write(bytes: Buffer): Promise<void> | undefined;
  head(): HeaderBlock;
  /** What a MessageSink stores; undefined when nothing is to be. */
  readonly sink?: MessageSink;
  /** Its identity, without having stored anything. */
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
      // The sink keeps what it is given until its end: no view into the reader's buffer.
      sink.write(Buffer.from(bytes))
        ? undefined
        : new Promise((resolve) => {
            sink.whenReady(resolve);
          }),
    head: () => sink.head(),
    identify: () => {
      throw new Error('a stored message tells its identity itself');
    },
    abort: () => sink.abort(),
  };
}

/** For a rehearsal: looks at a message and keeps nothing of it. */
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
