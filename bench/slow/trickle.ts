import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BENCH_DOMAIN } from '../support/smtp-source.ts';

export interface TrickleOptions {
  readonly port: number;
  /** The source addresses, one client for each. */
  readonly addresses: readonly string[];
  /** How often each client sends a byte or a harmless command. */
  readonly everyMs: number;
}

/** The state of the clients; times in ms from connecting to disconnection by the server. */
export interface Trickled {
  readonly open: number;
  /** Clients that were not greeted. */
  readonly refused: number;
  readonly cutAfterMs: readonly number[];
}

const ENVELOPE = `MAIL FROM:<eve@example.com>\r\nRCPT TO:<support@${BENCH_DOMAIN}>\r\nDATA\r\n`;

/** What a client sends first and then repeatedly: different ways to be slow. */
const WAYS: readonly { readonly first: string | Buffer; readonly then: string }[] = [
  { first: '', then: '' },
  { first: '', then: 'X' },
  { first: 'EHLO slow.example\r\n', then: 'NOOP\r\n' },
  { first: `EHLO slow.example\r\n${ENVELOPE}`, then: 'x' },
  { first: 'EHLO slow.example\r\nSTARTTLS\r\n', then: '\x16' },
];
/** This many connect at the same time. */
const AT_ONCE = 50;

class SlowClient {
  readonly connectedAt = performance.now();
  readonly #socket: Socket;
  readonly #way;
  endedAt: number | undefined;
  wasGreeted = false;

  constructor(port: number, localAddress: string, way: (typeof WAYS)[number]) {
    this.#way = way;
    this.#socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    const end = (): void => {
      this.endedAt ??= performance.now();
      this.#socket.destroy();
    };
    this.#socket.on('error', end);
    this.#socket.on('end', end);
    this.#socket.on('close', end);
  }

  /** Resolves when the server has answered or closed the connection. */
  async greeted(): Promise<void> {
    const text = await new Promise<string>((resolve) => {
      this.#socket.once('data', (data) => resolve(data.toString('latin1')));
      this.#socket.once('close', () => resolve(''));
    });
    this.wasGreeted = text.startsWith('220');
    this.#socket.resume();
    if (this.wasGreeted && this.#way.first !== '') this.#socket.write(this.#way.first);
  }

  trickle(): void {
    if (this.endedAt === undefined && this.#way.then !== '') this.#socket.write(this.#way.then);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** Clients that keep their connections for as long as they are allowed and send no message. */
export async function start({ port, addresses, everyMs }: TrickleOptions) {
  const clients: SlowClient[] = [];
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const batch = addresses.slice(from, from + AT_ONCE).map((address, index) => {
      // By index instead of address, so that clients of one address use different ways.
      const way = WAYS[(from + index) % WAYS.length] ?? { first: '', then: '' };
      return new SlowClient(port, address, way);
    });
    await Promise.all(batch.map((client) => client.greeted()));
    clients.push(...batch);
    await delay(0);
  }
  const timer = setInterval(() => {
    for (const client of clients) client.trickle();
  }, everyMs);
  return {
    trickled: (): Trickled => {
      const greeted = clients.filter(({ wasGreeted }) => wasGreeted);
      return {
        open: greeted.filter(({ endedAt }) => endedAt === undefined).length,
        refused: clients.length - greeted.length,
        cutAfterMs: greeted.flatMap(({ endedAt, connectedAt }) =>
          endedAt === undefined ? [] : [endedAt - connectedAt],
        ),
      };
    },
    stop: () => {
      clearInterval(timer);
      for (const client of clients) client.destroy();
    },
  };
}
