import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { Transform } from 'node:stream';
import { seededRandom } from './random-faults.ts';
import { resetSocket } from './reset-socket.ts';

/**
 * What happens to a connection, and how often compared with the others:
 *
 * | trouble | what both sides see |
 * | --- | --- |
 * | `reset` | the connection is reset, at once and for both |
 * | `torn` | a reset in the middle of a chunk: its first bytes have arrived |
 * | `end` | an orderly end from both sides |
 * | `half-close` | one direction ends, the other goes on for a while |
 * | `vanish` | nothing arrives any more in either direction; the reset comes much later |
 * | `stall` | one direction holds its bytes back for a while, and then lets them all go |
 * | `delay` | from now on everything takes its time, more or less of it |
 */
export const TROUBLES = {
  reset: 3,
  torn: 2,
  end: 2,
  'half-close': 1,
  vanish: 1,
  stall: 3,
  delay: 3,
} as const;
export type Trouble = keyof typeof TROUBLES;

export interface LossyProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  readonly seed: number;
  /** Between two troubles of a connection, on average. */
  readonly meanCalmMs: number;
  /** The longest stall; a connection that vanishes is reset after as long again. */
  readonly maxStallMs: number;
  readonly maxDelayMs?: number;
  /** Where it listens; `127.0.0.1` by default. */
  readonly host?: string;
}

const MAX_DELAY_MS = 150;

/**
 * A TCP proxy on a bad line. Each connection has its own source of chance, so that the same seed
 * brings the same troubles to the same connection, whatever the others do. No byte is changed,
 * repeated or lost while a connection lives: TCP would not do that either.
 */
export class LossyProxy {
  /** How often each trouble came. */
  readonly counts = new Map<Trouble, number>();
  readonly #options: LossyProxyOptions;
  readonly #lines = new Set<Line>();
  readonly #server: Server;
  #connections = 0;
  #isCalm = false;

  private constructor(options: LossyProxyOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#carry(client));
  }

  static async start(options: LossyProxyOptions): Promise<LossyProxy> {
    const proxy = new LossyProxy(options);
    proxy.#server.listen(0, options.host ?? '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    // A listening TCP server has an AddressInfo; the other types are for pipes.
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://${this.#options.host ?? '127.0.0.1'}:${this.port}`;
  }

  /** Connections so far. */
  get connections(): number {
    return this.#connections;
  }

  /** No more troubles: what is open stays open, and what is held back is let go. */
  calm(): void {
    this.#isCalm = true;
    for (const line of this.#lines) line.calm();
  }

  /** Resets whatever is open, as a tunnel or a change of the network does. */
  cutAll(): void {
    for (const line of this.#lines) line.cut();
  }

  async stop(): Promise<void> {
    this.cutAll();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(client: Socket): void {
    this.#connections += 1;
    const line = new Line(client, connect({ ...this.#options.target, allowHalfOpen: true }), {
      ...{ options: this.#options, random: seededRandom(this.#options.seed + this.#connections) },
      onTrouble: (trouble) => this.counts.set(trouble, (this.counts.get(trouble) ?? 0) + 1),
      onClose: () => this.#lines.delete(line),
    });
    this.#lines.add(line);
    if (!this.#isCalm) line.worry();
  }
}

interface LineParts {
  readonly options: LossyProxyOptions;
  readonly random: () => number;
  readonly onTrouble: (trouble: Trouble) => void;
  readonly onClose: () => void;
}

/** One proxied connection: two sockets, and a passage for each direction. */
class Line {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #up = new Passage();
  readonly #down = new Passage();
  readonly #parts: LineParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(client: Socket, server: Socket, parts: LineParts) {
    this.#client = client;
    this.#server = server;
    this.#parts = parts;
    client.pipe(this.#up).pipe(server);
    server.pipe(this.#down).pipe(client);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // A side that fails (the gateway is not there, say) takes the other one with it.
      socket.on('error', () => this.cut());
      socket.on('close', () => {
        if (!socket.readableEnded || !socket.writableFinished) this.cut();
        if (client.destroyed && server.destroyed) this.#closed();
      });
    }
  }

  /** Waits for its next trouble. */
  worry(): void {
    const ms = -Math.log(1 - this.#parts.random()) * this.#parts.options.meanCalmMs;
    this.#timer = setTimeout(() => this.#suffer(pick(this.#parts.random())), ms);
  }

  calm(): void {
    clearTimeout(this.#timer);
    for (const passage of [this.#up, this.#down]) passage.clear();
  }

  cut(): void {
    clearTimeout(this.#timer);
    for (const passage of [this.#up, this.#down]) passage.destroy();
    for (const socket of [this.#client, this.#server]) resetSocket(socket);
  }

  #suffer(trouble: Trouble): void {
    const { random, options, onTrouble } = this.#parts;
    const { maxStallMs, maxDelayMs = MAX_DELAY_MS } = options;
    const someTime = (): number => (0.1 + 0.9 * random()) * maxStallMs;
    const one = random() < 0.5 ? this.#up : this.#down;
    onTrouble(trouble);
    switch (trouble) {
      case 'reset':
        this.cut();
        return;
      case 'torn':
        one.tear(random(), () => this.cut());
        // Nothing comes by on a silent line.
        this.#timer = setTimeout(() => this.cut(), maxStallMs);
        return;
      case 'end':
        this.#client.end();
        this.#server.end();
        this.#timer = setTimeout(() => this.cut(), maxStallMs);
        return;
      case 'half-close':
        (one === this.#up ? this.#server : this.#client).end();
        this.#timer = setTimeout(() => this.cut(), someTime());
        return;
      case 'vanish':
        this.#up.hold();
        this.#down.hold();
        this.#timer = setTimeout(() => this.cut(), someTime() + maxStallMs);
        return;
      case 'stall':
        one.hold();
        this.#timer = setTimeout(() => {
          one.release();
          this.worry();
        }, someTime());
        return;
      case 'delay':
        for (const passage of [this.#up, this.#down]) {
          passage.slow(() => random() * maxDelayMs);
        }
        this.worry();
    }
  }

  #closed(): void {
    clearTimeout(this.#timer);
    for (const passage of [this.#up, this.#down]) passage.destroy();
    this.#parts.onClose();
  }
}

/** One direction: passes everything on, in order, when it may. */
class Passage extends Transform {
  #delayMs: () => number = () => 0;
  #isHeld = false;
  #tear: ((chunk: Buffer) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waiting: (() => void) | undefined;

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#waiting?.();
  }

  slow(delayMs: () => number): void {
    this.#delayMs = delayMs;
  }

  /** Of the next chunk only this share goes through. */
  tear(share: number, onTorn: () => void): void {
    this.#tear = (chunk) => {
      this.push(chunk.subarray(0, Math.floor(share * chunk.length)));
      // After the write, which happens in this turn.
      setImmediate(onTorn);
    };
  }

  clear(): void {
    this.#delayMs = () => 0;
    this.#tear = undefined;
    this.release();
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null) => void): void {
    this.#whenPassable(() => {
      if (this.#tear === undefined) this.push(chunk);
      else this.#tear(chunk);
      done(null);
    });
  }

  override _flush(done: () => void): void {
    this.#whenPassable(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#waiting = undefined;
    done(error);
  }

  #whenPassable(pass: () => void): void {
    const delayMs = this.#delayMs();
    if (this.#isHeld) {
      this.#waiting = () => {
        this.#waiting = undefined;
        pass();
      };
    } else if (delayMs > 0) {
      this.#timer = setTimeout(() => {
        if (this.#isHeld) this.#whenPassable(pass);
        else pass();
      }, delayMs);
    } else {
      pass();
    }
  }
}

function pick(chance: number): Trouble {
  // Object.entries forgets which keys an object has.
  const all = Object.entries(TROUBLES) as [Trouble, number][];
  let left = chance * all.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [trouble, weight] of all) {
    left -= weight;
    if (left < 0) return trouble;
  }
  return 'reset';
}
