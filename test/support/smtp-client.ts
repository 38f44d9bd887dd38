import { connect, type Socket } from 'node:net';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';

/** A plain SMTP client that does exactly what it is told, right or wrong. */
export class SmtpClient {
  #socket: Socket | TLSSocket;
  #received = '';
  #ended = false;
  #wake: (() => void) | undefined;
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => resolve());
    });
    this.#listen(socket);
  }

  static async connect(
    port: number,
    localAddress = '127.0.0.1',
    host = '127.0.0.1',
  ): Promise<SmtpClient> {
    const socket = connect({ port, host, localAddress });
    const client = new SmtpClient(socket);
    await once(socket, 'connect');
    return client;
  }

  get socket(): Socket | TLSSocket {
    return this.#socket;
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** The next whole reply, its lines joined by `|`; an empty string when the server has closed. */
  async reply(): Promise<string> {
    const lines: string[] = [];
    for (;;) {
      const end = this.#received.indexOf('\r\n');
      if (end !== -1) {
        const line = this.#received.slice(0, end);
        this.#received = this.#received.slice(end + 2);
        lines.push(line);
        if (line[3] !== '-') return lines.join('|');
      } else if (this.#ended) {
        return lines.join('|');
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async say(line: string): Promise<string> {
    this.send(`${line}\r\n`);
    return await this.reply();
  }

  /** Says hello, and names sender and recipients. */
  async envelope(recipients: readonly string[], from = 'ann@example.com'): Promise<void> {
    await this.say('EHLO client.example');
    await this.say(`MAIL FROM:<${from}>`);
    for (const recipient of recipients) await this.say(`RCPT TO:<${recipient}>`);
  }

  /** Upgrades after the reply to STARTTLS. */
  async startTls(): Promise<TLSSocket> {
    this.#socket.removeAllListeners('data');
    const secure = tlsConnect({ socket: this.#socket, rejectUnauthorized: false });
    await once(secure, 'secureConnect');
    this.#socket = secure;
    this.#listen(secure);
    return secure;
  }

  end(): void {
    this.#socket.end();
  }

  /** A reset, not a goodbye. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    const wake = (): void => {
      const waiting = this.#wake;
      this.#wake = undefined;
      waiting?.();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      wake();
    });
    const end = (): void => {
      this.#ended = true;
      wake();
    };
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', end);
  }
}

/**
 * Plays a dialogue. `c: ` sends a line, `s: ` expects a reply that starts so; `<CR>`, `<LF>` and
 * `<NUL>` stand for the bytes, and a `c: ` line that ends in `<...>` gets no line end of its own.
 */
export async function converse(client: SmtpClient, script: string): Promise<void> {
  for (const line of script.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [, speaker, text = ''] = /^([cs]):\s?(.*)$/.exec(line) ?? [];
    if (speaker === 'c') {
      const bytes = text
        .replaceAll('<CR>', '\r')
        .replaceAll('<LF>', '\n')
        .replaceAll('<NUL>', '\0');
      client.send(/<(?:CR|LF|NUL)>$/.test(text) ? bytes : `${bytes}\r\n`);
    } else if (speaker === 's') {
      const reply = await client.reply();
      if (!reply.startsWith(text)) throw new Error(`expected "${text}", got "${reply}"`);
    } else {
      throw new Error(`neither c: nor s: in "${line}"`);
    }
  }
}
