import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from './reset-socket.ts';

/**
 * A TCP proxy whose line a test switches by hand: cut, deaf or mute, each at a moment of its own.
 * What is behind it may change while it runs: a gateway that is started again has another port.
 */
export class SwitchedProxy {
  readonly #lines = new Set<Line>();
  readonly #server = createServer((client) => this.#carry(client));
  #target: URL;
  #isDown = false;
  #isSilent = false;
  #met = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  /** @param target where it leads: `http://127.0.0.1:8080` */
  static async start(target: string): Promise<SwitchedProxy> {
    const proxy = new SwitchedProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    // A listening TCP server has an AddressInfo; the other types are for pipes.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on new connections lead there. */
  leadTo(target: string): void {
    this.#target = new URL(target);
  }

  /** How many connections have met a line that is down or silent, since it is. */
  get met(): number {
    return this.#met;
  }

  /** Resets what is open, and whatever comes until `up`. */
  down(): void {
    this.#isDown = true;
    this.#met = this.#lines.size;
    for (const line of this.#lines) line.reset();
  }

  /** From now on nothing arrives at either side, and nobody is told so. It arrives when the line is up again. */
  silence(): void {
    this.#isSilent = true;
    this.#met = this.#lines.size;
    for (const line of this.#lines) line.silence();
  }

  /** Returns how many connections noticed that it was not. */
  up(): number {
    this.#isDown = false;
    if (this.#isSilent) for (const line of this.#lines) line.speak();
    this.#isSilent = false;
    return this.#met;
  }

  /**
   * On the WebSockets that are open now, nothing of what the server says arrives any more: what the
   * client says does. A connection opened later is whole; other connections are reset, so that a
   * browser does not keep one for its next request.
   */
  loseAnswers(): void {
    for (const line of this.#lines) line.loseAnswers();
  }

  async stop(): Promise<void> {
    this.down();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(client: Socket): void {
    if (this.#isDown) {
      this.#met += 1;
      client.on('error', () => undefined);
      resetSocket(client);
      return;
    }
    const { hostname, port } = this.#target;
    const line = new Line(client, connect(Number(port), hostname), () => this.#lines.delete(line));
    this.#lines.add(line);
    if (this.#isSilent) {
      this.#met += 1;
      line.silence();
    }
  }
}

class Line {
  readonly #client: Socket;
  readonly #server: Socket;
  #isMute = false;
  #isWebSocket = false;

  constructor(client: Socket, server: Socket, onClose: () => void) {
    this.#client = client;
    this.#server = server;
    client.once('data', (head: Buffer) => {
      this.#isWebSocket = /^upgrade: *websocket/im.test(head.toString('latin1'));
    });
    client.pipe(server);
    server.on('data', (chunk: Buffer) => {
      if (!this.#isMute) client.write(chunk);
    });
    server.on('end', () => client.end());
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // One side that fails takes the other with it.
      socket.on('error', () => this.reset());
      socket.on('close', () => {
        this.#client.destroy();
        this.#server.destroy();
        onClose();
      });
    }
  }

  silence(): void {
    this.#client.unpipe(this.#server);
    this.#client.pause();
    this.#server.pause();
  }

  speak(): void {
    this.#client.pipe(this.#server);
    this.#server.resume();
  }

  loseAnswers(): void {
    if (this.#isWebSocket) this.#isMute = true;
    else this.reset();
  }

  reset(): void {
    resetSocket(this.#client);
    resetSocket(this.#server);
  }
}
