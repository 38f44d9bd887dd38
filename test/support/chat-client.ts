import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import type {
  ClientToServerEvents,
  HandshakeAuth,
  HistoryAck,
  HistoryRequest,
  MessageAck,
  MessageEvent,
  PlainAck,
  ServerToClientEvents,
  SessionEvent,
  StatusEvent,
  UpdateEvent,
} from '../../src/channels/chat/events.ts';
import { DEADLINE_MS } from './wait-for.ts';

export interface ChatClientOptions {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly auth: HandshakeAuth | Record<string, unknown>;
  /** Sent as the Origin header; none by default, which the shop has to allow. */
  readonly origin?: string;
  /** The client's address, where the gateway trusts a proxy on this machine. */
  readonly forwardedFor?: string;
  readonly transports?: ('websocket' | 'polling')[];
  /** Connects again by itself, with the newest token and the last line it has. */
  readonly reconnect?: boolean;
  /** Until there is a session. */
  readonly connectTimeoutMs?: number;
  /** Answers the server when it asks whether a line has arrived. False by default. */
  readonly confirms?: boolean;
}

/** The server's `connect_error`. */
export class ConnectRefused extends Error {
  readonly data: { readonly code?: string; readonly retryAfter?: number };
  constructor(message: string, data: ConnectRefused['data'] = {}) {
    super(message);
    this.data = data;
  }
}

const ACK_TIMEOUT_MS = 60_000;

/** A chat client without a page: one tab of one visitor. */
export class ChatClient {
  readonly socket: Socket<ServerToClientEvents, ClientToServerEvents>;
  readonly url: string;
  readonly sessions: SessionEvent[] = [];
  /** Everything as it came, repetitions included. */
  readonly messages: MessageEvent[] = [];
  readonly updates: UpdateEvent[] = [];
  readonly statuses: StatusEvent[] = [];
  readonly disconnects: string[] = [];
  readonly #origin: string | undefined;
  readonly #connectTimeoutMs: number;
  #auth: Record<string, unknown>;

  constructor(options: ChatClientOptions) {
    this.url = options.url;
    this.#origin = options.origin;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? DEADLINE_MS;
    this.#auth = { ...options.auth };
    this.socket = io(options.url, {
      path: '/chat',
      auth: (give) => give(this.#auth),
      transports: options.transports ?? ['websocket'],
      reconnection: options.reconnect ?? false,
      reconnectionDelay: 20,
      reconnectionDelayMax: 200,
      forceNew: true,
      autoConnect: false,
      extraHeaders: {
        ...(options.origin !== undefined && { origin: options.origin }),
        ...(options.forwardedFor !== undefined && { 'x-forwarded-for': options.forwardedFor }),
      },
    });
    this.socket.on('session', (session) => {
      this.sessions.push(session);
      const known = this.#auth['visitorId'];
      const isSwitched = known !== undefined && known !== session.visitorId;
      this.#auth = {
        ...this.#auth,
        token: session.token,
        visitorId: session.visitorId,
        ...(isSwitched && { lastSeq: 0 }),
      };
    });
    this.socket.on('message', (message, received) => {
      if (options.confirms === true) received?.();
      this.messages.push(message);
      this.#auth = { ...this.#auth, lastSeq: message.seq };
    });
    this.socket.on('update', (update) => this.updates.push(update));
    this.socket.on('status', (status) => this.statuses.push(status));
    this.socket.on('disconnect', (reason) => this.disconnects.push(reason));
  }

  /** Resolves with a client that has its session. @throws {ConnectRefused} */
  static async connect(options: ChatClientOptions): Promise<ChatClient> {
    const client = new ChatClient(options);
    await client.open();
    return client;
  }

  async open(): Promise<SessionEvent> {
    const opened = new Promise<void>((resolve, reject) => {
      this.socket.once('session', () => resolve());
      this.socket.once('connect_error', (error: Error & { data?: ConnectRefused['data'] }) =>
        reject(new ConnectRefused(error.message, error.data)),
      );
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error('waited in vain for a session');
      timer = setTimeout(() => reject(error), this.#connectTimeoutMs);
    });
    this.socket.connect();
    try {
      await Promise.race([opened, late]);
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    return this.session;
  }

  get session(): SessionEvent {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('not connected yet');
    return session;
  }

  /** What came, by `seq`, as a client shows it that ignores what it has. */
  get texts(): string[] {
    const lines = new Map(this.messages.map((message) => [message.seq, message.text]));
    return [...lines].sort(([one], [other]) => one - other).map(([, text]) => text);
  }

  send(text: string, more: { id?: string; uploads?: string[] } = {}): Promise<MessageAck> {
    return this.request<MessageAck>('message', { id: randomUUID(), text, ...more });
  }

  history(request?: HistoryRequest): Promise<HistoryAck> {
    return this.request<HistoryAck>('history', ...(request === undefined ? [] : [request]));
  }

  profile(labels: unknown): Promise<PlainAck> {
    return this.request<PlainAck>('profile', labels);
  }

  newConversation(): Promise<PlainAck> {
    return this.request<PlainAck>('new_conversation');
  }

  seen(seq: number): Promise<PlainAck> {
    return this.request<PlainAck>('seen', { seq });
  }

  /** Any event with any arguments; resolves with the acknowledgement. */
  async request<Answer = unknown>(event: string, ...args: unknown[]): Promise<Answer> {
    const socket = this.socket.timeout(ACK_TIMEOUT_MS);
    // Tests send what the types forbid.
    const emit = socket.emitWithAck.bind(socket) as (...all: unknown[]) => Promise<unknown>;
    return (await emit(event, ...args)) as Answer;
  }

  /**
   * Sends until it is acknowledged, across reconnects, as a widget with an outbox does.
   * @returns the `seq`; rejects when the server refuses for good
   */
  async deliver(text: string, id: string = randomUUID(), signal?: AbortSignal): Promise<number> {
    for (;;) {
      signal?.throwIfAborted();
      const answer = this.socket.connected
        ? await this.#emitOnce(id, text).catch(() => undefined)
        : undefined;
      if (answer?.ok === true) return answer.seq;
      if (answer && !['busy', 'rate_limited'].includes(answer.error)) {
        throw new Error(`refused: ${answer.error}`);
      }
      await delay((answer?.retryAfter ?? 0.02) * 1000, undefined, signal && { signal });
    }
  }

  /** Rejects as soon as the connection is lost, instead of waiting for the timeout. */
  #emitOnce(id: string, text: string): Promise<MessageAck> {
    return new Promise((resolve, reject) => {
      const lost = (): void => reject(new Error('the connection was lost'));
      this.socket.once('disconnect', lost);
      this.socket.emit('message', { id, text }, (answer) => {
        this.socket.off('disconnect', lost);
        resolve(answer);
      });
    });
  }

  upload(
    file: { name: string; bytes: Uint8Array; type?: string; field?: string },
    token: string | undefined = this.session.token,
  ): Promise<Response> {
    const form = new FormData();
    const blob = new Blob([Uint8Array.from(file.bytes)], { type: file.type ?? '' });
    form.append(file.field ?? 'file', blob, file.name);
    return fetch(`${this.url}/chat/uploads`, {
      method: 'POST',
      body: form,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(this.#origin !== undefined && { origin: this.#origin }),
      },
    });
  }

  close(): void {
    this.socket.disconnect();
  }
}
