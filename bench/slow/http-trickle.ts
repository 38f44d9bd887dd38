import { connect, type Socket } from 'node:net';

export interface HttpTrickleOptions {
  /** The number of clients per way applies to each of these ports. */
  readonly ports: readonly number[];
  readonly clients: number;
  /** The clients share them evenly. */
  readonly addresses: readonly string[];
  /** How often each client sends a little more. */
  readonly everyMs: number;
}

/** The state of the clients; times in milliseconds from connecting until the connection ended. */
export interface HttpTrickled {
  readonly open: number;
  /** Clients that got 503 at once, or no answer. */
  readonly refused: number;
  readonly livedMs: readonly number[];
}

const WAYS = [
  {
    first:
      'POST /sms/twilio HTTP/1.1\r\nHost: slow.example\r\nContent-Length: 60000\r\n' +
      'Content-Type: application/x-www-form-urlencoded\r\n\r\n',
    then: 'x',
  },
  { first: 'GET /healthz HTTP/1.1\r\nHost: slow.example\r\n', then: 'X-More: y\r\n' },
] as const;
const AT_ONCE = 50;
/** A client whose connection ended sooner was not admitted. */
const REFUSED_WITHIN_MS = 3000;

class SlowClient {
  readonly #connectedAt = performance.now();
  readonly #socket: Socket;
  readonly #then: string;
  endedAt: number | undefined;

  constructor(port: number, localAddress: string, { first, then }: (typeof WAYS)[number]) {
    this.#then = then;
    // It keeps its own side open, so that the server must close the connection itself.
    const options = { port, host: '127.0.0.1', localAddress, noDelay: true, allowHalfOpen: true };
    this.#socket = connect(options);
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => (this.endedAt ??= performance.now()));
    this.#socket.resume();
    this.#socket.write(first);
  }

  get livedMs(): number | undefined {
    return this.endedAt === undefined ? undefined : this.endedAt - this.#connectedAt;
  }

  async connected(): Promise<void> {
    if (!this.#socket.connecting) return;
    await new Promise<void>((resolve) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('close', () => resolve());
    });
  }

  trickle(): void {
    if (this.endedAt === undefined) this.#socket.write(this.#then);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** Clients that send their request a little at a time, for as long as they are allowed. */
export async function start({ ports, clients: count, addresses, everyMs }: HttpTrickleOptions) {
  const clients: SlowClient[] = [];
  const timer = setInterval(() => {
    for (const client of clients) client.trickle();
  }, everyMs);
  for (let index = 0; index < count; index += 1) {
    for (const port of ports) {
      for (const way of WAYS) {
        clients.push(new SlowClient(port, addresses[index % addresses.length] ?? '', way));
      }
    }
    if (index % AT_ONCE === AT_ONCE - 1) {
      await Promise.all(clients.slice(-AT_ONCE).map((client) => client.connected()));
    }
  }
  return {
    trickled: (): HttpTrickled => {
      const lived = clients.flatMap(({ livedMs }) => (livedMs === undefined ? [] : [livedMs]));
      const livedMs = lived.filter((ms) => ms > REFUSED_WITHIN_MS);
      return {
        open: clients.length - lived.length,
        refused: lived.length - livedMs.length,
        livedMs,
      };
    },
    stop: () => {
      clearInterval(timer);
      for (const client of clients) client.destroy();
    },
  };
}
