import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { SMTPConnectionOptions } from './smtp-internals.ts';
import type { Networks } from '../../runtime/ip-addresses.ts';
import { type ConnectionRules, ReplyBatch, SmtpConnection } from './smtp-connection.ts';

export type ListenerRules = Omit<ConnectionRules, 'onClosed' | 'replies'>;

/** smtp-server's listener with sessions of our own class, tracked until they are closed. */
export class SmtpListener extends SMTPServer {
  readonly #rules: ListenerRules;
  readonly #live = new Set<SmtpConnection>();
  readonly #bySession = new WeakMap<SMTPServerSession, SmtpConnection>();
  readonly #replies = new ReplyBatch();
  readonly #sockets = new Set<Socket>();

  constructor(options: SMTPServerOptions, rules: ListenerRules) {
    super(options);
    this.#rules = rules;
    this.server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  connectionOf(session: SMTPServerSession): SmtpConnection | undefined {
    return this.#bySession.get(session);
  }

  /** The session that has been idle the longest, for at least `atLeastMs`. */
  stalest(trusted: Networks, now: number, atLeastMs: number): SmtpConnection | undefined {
    let stalest: SmtpConnection | undefined;
    let longest = atLeastMs;
    for (const connection of this.#live) {
      if (connection.isClosing || trusted.has(connection.remoteAddress)) continue;
      const stalled = connection.stalledMs(now);
      if (stalled < longest) continue;
      stalest = connection;
      longest = stalled;
    }
    return stalest;
  }

  /** Ends sessions that send commands but no message. */
  endIdle(now: number, noMessageMs: number): void {
    for (const connection of this.#live) {
      if (connection.isClosing || !connection.hasBeenWithoutMessage(now, noMessageMs)) continue;
      connection.cutOff('idle');
    }
  }

  override connect(socket: Socket | TLSSocket, options?: SMTPConnectionOptions | null): void {
    const connection = new SmtpConnection(
      this,
      socket,
      { ...this.#rules, replies: this.#replies, onClosed: () => this.#live.delete(connection) },
      options,
    );
    this.connections.add(connection);
    this.#live.add(connection);
    this.#bySession.set(connection.session, connection);
    connection.on('error', (error: Error) => this._onError(error));
    connection.init();
  }

  /** Resolves with the port when the server listens. */
  async listenOn(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port, backlog: 1024 }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Accepts no new connections; resolves when the last one is closed. */
  async closeListener(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    // These have sent no PROXY header yet, so no session exists that could reply.
    for (const socket of this._pendingSockets.values()) socket.destroy();
    for (const connection of this.#live) connection.drain();
    await closed;
  }

  destroyAll(): void {
    for (const connection of this.#live) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}
