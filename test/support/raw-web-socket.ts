import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

const TEXT = 0x81;
const BINARY = 0x82;
const CLOSE = 0x88;

/** One masked frame (RFC 6455 §5.2); a mask of zeros changes nothing. */
export function maskedFrame(content: string | Uint8Array): Buffer {
  const payload = Buffer.from(content);
  const type = typeof content === 'string' ? TEXT : BINARY;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(payload.length);
  const head = payload.length < 126 ? [type, 0x80 | payload.length] : [type, 0xfe, ...length];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}

/** A WebSocket that says and hears frames, and nothing of itself; for a chat below `/chat/`. */
export class RawWebSocket {
  /** The texts that came, in order. */
  readonly frames: string[] = [];
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** Whether it goes when the server says that it closes (RFC 6455 §5.5.1). */
  answersClose = true;
  #unread = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = once(socket, 'close');
  }

  /** @throws {Error} the server answers something else than 101 */
  static async open(url: string, query = 'EIO=4&transport=websocket'): Promise<RawWebSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const client = new RawWebSocket(socket);
    let head: string | undefined;
    socket.on('data', (chunk) => {
      client.#unread = Buffer.concat([client.#unread, chunk]);
      const end = client.#unread.indexOf('\r\n\r\n');
      if (head === undefined && end >= 0) {
        head = client.#unread.toString('latin1', 0, end);
        client.#unread = client.#unread.subarray(end + 4);
      }
      if (head !== undefined) client.#read();
    });
    const lines = [
      ...[`GET /chat/?${query} HTTP/1.1`, 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade'],
      ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13', '', ''],
    ];
    socket.write(lines.join('\r\n'));
    const answer = await waitFor(
      'an answer',
      () => head ?? (socket.destroyed ? 'none' : undefined),
    );
    if (!answer.startsWith('HTTP/1.1 101')) {
      socket.destroy();
      throw new Error(`refused: ${answer.slice(0, 12)}`);
    }
    return client;
  }

  send(content: string | Uint8Array): void {
    this.socket.write(maskedFrame(content));
  }

  /** The first text that begins so. */
  next(beginning: string): Promise<string> {
    return waitFor(beginning, () => this.frames.find((frame) => frame.startsWith(beginning)));
  }

  close(): void {
    this.socket.destroy();
  }

  /** Whole frames; a server's are never masked, and these are never in parts. */
  #read(): void {
    for (;;) {
      const [type = 0, size = 0] = this.#unread;
      const wide = { 126: 2, 127: 8 }[size] ?? 0;
      const start = 2 + wide;
      if (this.#unread.length < start) return;
      const length =
        wide === 0 ? size : this.#unread.readUIntBE(start - Math.min(wide, 6), Math.min(wide, 6));
      if (this.#unread.length < start + length) return;
      if (type === CLOSE && this.answersClose) this.socket.destroy();
      if (type === TEXT) this.frames.push(this.#unread.toString('utf8', start, start + length));
      this.#unread = this.#unread.subarray(start + length);
    }
  }
}

/** One that says what it is told to, and answers nothing more. */
export async function silentClient(url: string, packet?: string): Promise<Socket> {
  const client = await RawWebSocket.open(url);
  client.answersClose = false;
  await client.next('0');
  if (packet !== undefined) {
    client.send(packet);
    await client.next('42["session"');
  }
  return client.socket;
}
