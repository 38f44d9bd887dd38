import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** A final answer to a client that did not get as far as a request, or not to its end. */
export interface FinalAnswer {
  readonly status: number;
  /** Of the status line (RFC 9112 §4). */
  readonly reason: string;
  readonly type: string;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/** For how long what still comes is read: a close with unread data is a reset, which overtakes the answer. */
const LINGER_MS = 1000;
/** With so many at once, further ones are closed without an answer. */
const MAX_LINGERING = 200;

/** Answers and closes connections; none stays open longer than `LINGER_MS` after its answer. */
export class FinalAnswers {
  readonly #lingering = new Map<Socket, NodeJS.Timeout>();

  /** Sends the answer and closes, whatever the client does. Nothing of another answer may have been sent. */
  send(socket: Socket, { status, reason, type, body, retryAfterSeconds }: FinalAnswer): void {
    if (!socket.writable || this.#lingering.has(socket) || this.#lingering.size >= MAX_LINGERING) {
      socket.destroy();
      return;
    }
    this.#lingering.set(
      socket,
      setTimeout(() => socket.destroy(), LINGER_MS),
    );
    socket.once('close', () => {
      clearTimeout(this.#lingering.get(socket));
      this.#lingering.delete(socket);
    });
    socket.on('error', () => undefined);
    const retryAfter =
      retryAfterSeconds === undefined ? '' : `Retry-After: ${retryAfterSeconds}\r\n`;
    socket.end(
      `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\n${retryAfter}Content-Type: ${type}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    socket.resume();
  }

  endAll(): void {
    for (const socket of this.#lingering.keys()) socket.destroy();
  }
}

/** How long a refused body is still read, so that the answer gets through. */
const DRAIN_TIMEOUT_MS = 10_000;

/**
 * Reads on for a while after a refusal. A connection that is closed on a client that still sends
 * is reset, and the reset overtakes the answer.
 */
export function drainRequest(request: IncomingMessage, maxBytes: number): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), DRAIN_TIMEOUT_MS);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) request.destroy();
  });
  request.on('error', () => undefined);
  request.on('close', () => clearTimeout(timer));
  request.resume();
}
