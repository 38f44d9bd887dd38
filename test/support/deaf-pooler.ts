import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that lets LISTEN through and no notification back, as a pooler in transaction mode does. */
export class DeafPooler {
  /** How many notifications it has kept back. */
  withheld = 0;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#carry(socket));

  private constructor(url: string) {
    this.#target = new URL(url);
  }

  /** @param url of the database */
  static async start(url: string): Promise<DeafPooler> {
    const pooler = new DeafPooler(url);
    pooler.#server.listen(0, '127.0.0.1');
    await once(pooler.#server, 'listening');
    return pooler;
  }

  /** Of the same database, through this proxy. */
  get url(): string {
    const pooled = new URL(this.#target);
    pooled.hostname = '127.0.0.1';
    // A listening TCP server's address is never a string.
    pooled.port = String((this.#server.address() as AddressInfo).port);
    return pooled.href;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #carry(socket: Socket): void {
    const upstream = connect(Number(this.#target.port), this.#target.hostname);
    for (const end of [socket, upstream]) {
      this.#sockets.add(end);
      end.on('error', () => undefined);
      end.on('close', () => {
        this.#sockets.delete(end);
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream);
    let rest: Buffer = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // Each message has a type and a length (PostgreSQL, "Message Formats"); NotificationResponse is "A".
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const length = 1 + rest.readUInt32BE(1);
        if (rest.toString('latin1', 0, 1) === 'A') this.withheld += 1;
        else socket.write(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
    });
  }
}
