import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a client receives for a message of the server, whose first byte is its type. */
type Pass = (message: Buffer) => Buffer | undefined;

/** No notification comes back, as from a pooler in transaction mode. */
export const withoutNotifications: Pass = (message) => (isOf('A', message) ? undefined : message);

/** Whether a message is of this type (PostgreSQL, "Message Formats"). */
export const isOf = (type: string, message: Buffer): boolean =>
  message.toString('latin1', 0, 1) === type;

/** The server ends a connection on an administrator's command. */
export const TERMINATED = serverError({ S: 'FATAL', V: 'FATAL', C: '57P01', M: 'terminated' });

function serverError(fields: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(fields).map(([field, value]) => `${field}${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A proxy in front of a database that changes what the server says. */
export class PostgresProxy {
  connections = 0;
  readonly #target: URL;
  readonly #passOf: (connection: number) => Pass;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#carry(socket));

  private constructor(url: string, passOf: (connection: number) => Pass) {
    this.#target = new URL(url);
    this.#passOf = passOf;
  }

  /**
   * @param url of the database
   * @param passOf called for each connection, counted from 1
   */
  static async start(url: string, passOf: (connection: number) => Pass): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(url, passOf);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
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
    const pass = this.#passOf((this.connections += 1));
    let rest: Buffer = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // Each message has a type and a length.
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const length = 1 + rest.readUInt32BE(1);
        const passed = pass(rest.subarray(0, length));
        if (passed !== undefined) socket.write(passed);
        if (passed?.subarray(-TERMINATED.length).equals(TERMINATED)) socket.end();
        rest = rest.subarray(length);
      }
    });
  }
}
