import type { Socket } from 'node:net';

/** A final answer to a client that did not get as far as a request, or not to its end. */
export interface LastWords {
  readonly status: number;
  /** Of the status line (RFC 9112 §4). */
  readonly reason: string;
  readonly type: string;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/** For how long what still comes is read: a close with unread data is a reset, which overtakes the answer. */
const LINGER_MS = 1000;
/** Beyond so many at once there is no answer. */
const MAX_LINGERING = 200;

/** Ends connections with an answer, and none of them lasts longer than a moment. */
export class Farewells {
  readonly #lingering = new Map<Socket, NodeJS.Timeout>();

  /** Says so and closes, whatever the client does. Nothing of an answer may have gone out before. */
  say(socket: Socket, { status, reason, type, body, retryAfterSeconds }: LastWords): void {
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
