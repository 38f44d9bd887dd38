import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { io, type Socket } from 'socket.io-client';
import { z } from 'zod';
import {
  CHAT_PATH,
  type ClientToServerEvents,
  type Failure,
  type MessageAck,
  type MessageEvent,
  type PlainAck,
  type ServerToClientEvents,
  type SessionEvent,
  UPLOAD_PATH,
} from '../../channels/chat/events.ts';
import type { ShopConfig } from '../../config/config.ts';
import { withinMs } from '../../runtime/clock.ts';
import { NoAnswer, Unsent } from './unsent.ts';

export type Uploaded = Readonly<z.output<typeof uploadSchema>>;

const CONNECT_TIMEOUT_MS = 10_000;
const ACK_TIMEOUT_MS = 20_000;
const UPLOAD_TIMEOUT_MS = 120_000;

const uploadSchema = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  size: z.number(),
});
const uploadErrorSchema = z.object({ error: z.string(), retryAfter: z.number().optional() });

/** A chat visitor without a page. Every call either succeeds or fails with the reason. */
export class ChatVisitor {
  readonly #socket: Socket<ServerToClientEvents, ClientToServerEvents>;
  readonly #where: URL;
  /** With the Origin header, if the shop requires one. */
  readonly #headers: Readonly<Record<string, string>>;
  readonly #reply: Promise<MessageEvent>;

  /** Listens for the reply from the start, since it may arrive before the acknowledgement. */
  constructor(where: URL, { key, origins, allowNoOrigin }: NonNullable<ShopConfig['chat']>) {
    const [origin] = origins;
    this.#where = where;
    this.#headers = !allowNoOrigin && origin !== undefined ? { origin } : {};
    this.#socket = io(where.href, {
      path: CHAT_PATH,
      auth: { key },
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      timeout: CONNECT_TIMEOUT_MS,
      extraHeaders: this.#headers,
    });
    this.#reply = new Promise((resolve) => {
      this.#socket.on('message', (message) => {
        if (message.from === 'agent') resolve(message);
      });
    });
  }

  /** @throws {Unsent} the gateway cannot be reached, or refuses this visitor */
  session(): Promise<SessionEvent> {
    return new Promise<SessionEvent>((resolve, reject) => {
      this.#socket.once('session', resolve);
      this.#socket.once('connect_error', (error) => reject(this.#handshakeFailure(error)));
    });
  }

  /** @throws {Unsent} */
  async introduce(labels: { name?: string; email?: string }): Promise<void> {
    this.#assertTaken(await this.#ask<PlainAck>('profile', labels), 'the name or address');
  }

  /** @throws {Unsent} */
  async upload(file: string, { token }: SessionEvent): Promise<Uploaded> {
    const form = new FormData();
    form.append('file', await openAsBlob(file), basename(file));
    let response: Response;
    try {
      response = await fetch(new URL(UPLOAD_PATH, this.#where), {
        method: 'POST',
        body: form,
        headers: { ...this.#headers, authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
      });
    } catch (error) {
      throw new NoAnswer('chat upload', this.#where, { cause: error });
    }
    const body: unknown = await response.json().catch(() => undefined);
    const uploaded = uploadSchema.safeParse(body).data;
    if (response.ok && uploaded !== undefined) return uploaded;
    const { error, retryAfter } = uploadErrorSchema.safeParse(body).data ?? {
      error: `HTTP ${response.status}`,
    };
    throw new Unsent(`${basename(file)} was refused: ${explained(error, retryAfter)}`);
  }

  /** @throws {Unsent} */
  async send(text: string, uploads: readonly string[]): Promise<{ id: string; seq: number }> {
    const id = randomUUID();
    const message = { id, text, ...(uploads.length > 0 && { uploads }) };
    const ack = await this.#ask<MessageAck>('message', message);
    if (ack.ok) return { id, seq: ack.seq };
    throw new Unsent(`refused: ${explained(ack.error, ack.retryAfter)}`);
  }

  /** The agent's first reply. @throws {Unsent} it does not arrive in time */
  async reply(waitMs: number): Promise<MessageEvent> {
    const lost = new Promise<never>((_resolve, reject) => {
      this.#socket.once('disconnect', () => {
        reject(new Unsent('the connection was lost; the message was accepted'));
      });
    });
    try {
      return await withinMs(Promise.race([this.#reply, lost]), waitMs, () => {
        throw new Unsent(`no reply within ${waitMs / 1000} s; the message was accepted`);
      });
    } finally {
      this.#socket.off('disconnect');
    }
  }

  leave(): void {
    this.#socket.disconnect();
  }

  async #ask<Answer>(event: 'message' | 'profile', payload: unknown): Promise<Answer> {
    const timed = this.#socket.timeout(ACK_TIMEOUT_MS);
    // The library's types do not carry the value of an acknowledgement with a timeout.
    const emit = timed.emitWithAck.bind(timed) as (...args: unknown[]) => Promise<Answer>;
    try {
      return await emit(event, payload);
    } catch (cause) {
      throw new Unsent(`the gateway did not acknowledge the ${event}`, { cause });
    }
  }

  #assertTaken(ack: { readonly ok: true } | Failure, what: string): void {
    if (ack.ok) return;
    throw new Unsent(`${what} was refused: ${explained(ack.error, ack.retryAfter)}`);
  }

  #handshakeFailure(error: Error): Error {
    const data = z
      .object({ code: z.string(), retryAfter: z.number().optional() })
      .safeParse('data' in error ? error.data : undefined).data;
    if (data !== undefined) {
      const { code, retryAfter } = data;
      return new Unsent(`refused: ${explained(code, retryAfter)}`, { cause: error });
    }
    const status = upgradeStatus(error);
    if (status === undefined) return new NoAnswer('chat', this.#where, { cause: error });
    const why =
      'no shop of the gateway accepts this origin (does it run with this configuration?), ' +
      'or a proxy does not forward WebSockets';
    return new Unsent(`refused: HTTP ${status}; ${why}`, { cause: error });
  }
}

/** The status that was answered instead of 101, in the words of ws; undefined without an answer. */
function upgradeStatus(error: Error): string | undefined {
  const words = z
    .object({ message: z.string() })
    .safeParse('description' in error ? error.description : undefined).data?.message;
  return /^Unexpected server response: (\d{3})$/.exec(words ?? '')?.[1];
}

/** The meaning of each error code. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['unknown_key', 'the gateway has no such chat key; does it run with this configuration?'],
  [
    'origin',
    "the shop's chat.origins do not list this origin, or one is required (chat.allowNoOrigin)",
  ],
  ['too_large', 'larger than the chat accepts'],
  ['invalid', 'the gateway does not accept this'],
  ['unsupported', 'files that browsers would run (HTML, SVG) are not accepted'],
  ['busy', 'the gateway cannot accept messages now'],
]);

function explained(word: string, retryAfter: number | undefined): string {
  const meaning = MEANINGS.get(word);
  return (
    word +
    (meaning === undefined ? '' : ` (${meaning})`) +
    (retryAfter === undefined ? '' : `; try again in ${retryAfter} s`)
  );
}
