import type { Socket } from 'node:net';

/**
 * Writes the replies of one turn of the event loop together, at its end. A client that pipelines
 * gets its replies in one packet (RFC 2920 §3.2), and one that runs beside us is woken once for
 * many sessions instead of once for each reply, which costs more than to make the reply.
 */
export class ReplyBatch {
  #corked = new Set<Socket>();

  /** Call before a write: the socket keeps it until the turn ends. */
  hold(socket: Socket): void {
    if (this.#corked.has(socket)) return;
    if (this.#corked.size === 0) {
      setImmediate(() => {
        this.#flushAll();
      });
    }
    socket.cork();
    this.#corked.add(socket);
  }

  /** Writes at once what the socket keeps. */
  flush(socket: Socket): void {
    if (this.#corked.delete(socket)) socket.uncork();
  }

  #flushAll(): void {
    const sockets = this.#corked;
    this.#corked = new Set();
    for (const socket of sockets) socket.uncork();
  }
}
