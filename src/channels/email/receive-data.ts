import type { Readable } from 'node:stream';
import type { MessageSink } from './message-sink.ts';

/** How a transfer ended: whole, larger than allowed, or with the client gone. */
export type Transfer = 'complete' | 'too_large' | 'vanished';

export interface TransferWatch {
  readonly maxBytes: number;
  /** The client went on far past the limit. */
  readonly onFlood: () => void;
}

/** A message on its way in. */
export interface Receiving {
  readonly done: Promise<Transfer>;
  /** The client is held back until what it sent has been written. */
  readonly waitsForStore: () => boolean;
}

/**
 * Moves a message from DATA, or a request's body, into the sink, no faster than it can be written.
 * A message that is too large is read to its end, since only then can it be answered, but no
 * longer stored; a client that sends more than twice the limit is cut off.
 */
export function receiveData(
  stream: Readable,
  sink: MessageSink,
  { maxBytes, onFlood }: TransferWatch,
): Receiving {
  let waiting = false;
  let received = 0;
  const take = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > 2 * maxBytes) onFlood();
    if (received > maxBytes || sink.write(chunk)) return;
    waiting = true;
    stream.pause();
    sink.whenReady(() => {
      waiting = false;
      stream.resume();
    });
  };
  const done = new Promise<Transfer>((resolve) => {
    stream.on('data', take);
    stream.once('end', () => {
      resolve(received > maxBytes ? 'too_large' : 'complete');
    });
    // The stream is destroyed when the connection closes before the end of the message.
    stream.once('error', () => {
      resolve('vanished');
    });
    stream.once('close', () => {
      resolve('vanished');
    });
  });
  return { done, waitsForStore: () => waiting };
}
