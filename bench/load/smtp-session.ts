import { connect, type Socket } from 'node:net';
import { inboxOf } from '../support/smtp-source.ts';

/** A minimal SMTP client with pipelining (RFC 2920) and a persistent connection. */
export class SmtpSession {
  readonly #socket: Socket;
  #received = '';
  #awaited: { replies: number; resolve: () => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#look();
    });
    const lost = (): void => this.#awaited?.reject(new Error('the connection was lost'));
    socket.on('error', lost);
    socket.on('close', lost);
  }

  static async open(port: number, localAddress?: string): Promise<SmtpSession> {
    const session = new SmtpSession(
      connect({ host: '127.0.0.1', port, noDelay: true, ...(localAddress && { localAddress }) }),
    );
    await session.#replies(1);
    await session.#say('EHLO client.example\r\n', 1);
    return session;
  }

  /** Sends one message, up to the answer to the final dot. @throws when anything is refused */
  async send(
    sender: string,
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
    recipient = inboxOf(0),
  ): Promise<void> {
    await this.#say(`MAIL FROM:<${sender}>\r\nRCPT TO:<${recipient}>\r\nDATA\r\n`, 3);
    for await (const chunk of chunks) {
      if (!this.#socket.write(chunk)) await this.#drained();
    }
    await this.#say('.\r\n', 1);
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.end('QUIT\r\n');
  }

  async #say(text: string, replies: number): Promise<void> {
    this.#socket.write(text);
    await this.#replies(replies);
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('drain', resolve);
      this.#socket.once('close', reject);
    });
  }

  #replies(replies: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#awaited = { replies, resolve, reject };
      this.#look();
    });
  }

  #look(): void {
    const awaited = this.#awaited;
    if (awaited === undefined) return;
    for (;;) {
      const end = this.#received.indexOf('\r\n');
      if (end === -1) return;
      const line = this.#received.slice(0, end);
      this.#received = this.#received.slice(end + 2);
      if (!/^[23]/.test(line)) {
        awaited.reject(new Error(`the server said ${line}`));
        return;
      }
      if (line[3] === '-') continue;
      awaited.replies -= 1;
      if (awaited.replies > 0) continue;
      this.#awaited = undefined;
      awaited.resolve();
      return;
    }
  }
}
