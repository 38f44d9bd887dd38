import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** A final response to a client whose request did not arrive, or not completely. */
export interface FinalAnswer {
  readonly status: number;
  /** The reason phrase of the status line (RFC 9112 §4). */
  readonly reason: string;
  readonly type: string;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/**
 * How long further input is read: closing with unread data sends a reset, which can overtake the
 * response.
 */
const LINGER_MS = 1000;
/** Beyond this many at a time, connections are closed without a response. */
const MAX_LINGERING = 200;

/** Sends responses and closes the connections, each at most `LINGER_MS` after its response. */
export class FinalAnswers {
  readonly #lingering = new Map<Socket, NodeJS.Timeout>();

  /**
   * Sends the response and closes, whatever the client does. No other response may have been
   * started.
   */
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

/** How long a refused body is still read, so that the response arrives. */
const DRAIN_TIMEOUT_MS = 10_000;

/**
 * Keeps reading for a while after a refusal. Closing a connection on which the client still sends
 * causes a reset, which can overtake the response.
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
  const { socket } = request;
  const over = () => {
    clearTimeout(timer);
    socket.off('close', over);
  };
  request.on('end', over);
  request.on('close', over);
  // Node does not close a request whose response has been sent when its connection ends.
  socket.on('close', over);
  request.resume();
}
