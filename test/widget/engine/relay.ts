import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * A TCP relay between a widget and its gateway: one address through restarts, and a network that
 * can be cut, or go silent, at will.
 */
export class Relay {
  readonly url: string;
  /** How many connections have come so far. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: string | undefined;

  private constructor(server: Server) {
    this.#server = server;
    // A listening TCP server's address is never a string.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket) => this.#pass(socket));
  }

  static async start(target: string): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const relay = new Relay(server);
    relay.restore(target);
    return relay;
  }

  /** Cuts all connections, and refuses new ones until `restore`. */
  cut(): void {
    this.#target = undefined;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(target: string): void {
    this.#target = target;
  }

  /** Open connections stay open but pass no data; new connections work. */
  silence(): void {
    for (const socket of this.#sockets) socket.pause().unpipe();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket): void {
    this.connections += 1;
    if (this.#target === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(this.#target);
    const server = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
