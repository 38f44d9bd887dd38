import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import type {
  ClientToServerEvents,
  MessageAck,
  MessageEvent,
  PlainAck,
  ServerToClientEvents,
  SessionEvent,
} from '../../src/channels/chat/events.ts';

/** A line that a tab shows. */
export type ShownLine = Pick<MessageEvent, 'seq' | 'id' | 'from' | 'text'>;

/** One tab of a visitor. */
export interface VisitorTab {
  readonly isOnline: boolean;
  /** What a person sees who scrolls to the top, in the order of the page. */
  readonly shown: readonly ShownLine[];
  /** What must not be: a hole, or a number that names two lines. */
  readonly faults: readonly string[];
  close(): void;
}

/** One message of a visitor, from the moment it is in the outbox. */
export interface Said {
  readonly text: string;
  /** The client's id; undefined while nobody has looked it up. */
  id: string | undefined;
  /** From the acknowledgement; undefined before. */
  seq: number | undefined;
}

/** A visitor with as many tabs as he likes. All of them share what a browser's storage holds. */
export interface ChatVisitor {
  readonly visitorId: string | undefined;
  readonly tabs: readonly VisitorTab[];
  /** In the order in which it was said. */
  readonly said: readonly Said[];
  /** Nothing waits for its acknowledgement. */
  readonly isSettled: boolean;
  openTab(): VisitorTab;
  /** Into the outbox, from where it is sent until it is acknowledged. */
  say(text: string): void;
  /** The next message opens a new conversation, when the server hears of it. */
  newConversation(): Promise<void>;
  close(): void;
}

export interface VisitorOptions {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly key: string;
  /** An acknowledgement that takes longer counts as lost; the message is sent again. */
  readonly ackTimeoutMs?: number;
  /** Between two attempts to connect, at first and at most. */
  readonly reconnectMs?: readonly [number, number];
  readonly onLine?: (line: MessageEvent) => void;
}

const ACK_TIMEOUT_MS = 5_000;
const RECONNECT_MS = [50, 1_000] as const;
const LOOK_EVERY_MS = 50;

/**
 * A visitor without a browser, light enough for a thousand in one process: the token and the
 * outbox are the visitor's, the last line is each tab's. One message in flight, emitted only while
 * connected, again with the same id until it is acknowledged, through whichever tab is online.
 */
export class HeadlessVisitor implements ChatVisitor {
  readonly said: Said[] = [];
  readonly #options: VisitorOptions;
  readonly #tabs = new Set<HeadlessTab>();
  readonly #closed = new AbortController();
  #session: SessionEvent | undefined;
  #sent = 0;
  #sending: Promise<void> | undefined;

  constructor(options: VisitorOptions) {
    this.#options = options;
  }

  get visitorId(): string | undefined {
    return this.#session?.visitorId;
  }

  get tabs(): readonly HeadlessTab[] {
    return [...this.#tabs];
  }

  get isSettled(): boolean {
    return this.#sent === this.said.length;
  }

  /** The first tab alone, until it has its session: two at once would be two visitors. */
  openTab(): HeadlessTab {
    const tab: HeadlessTab = new HeadlessTab(this.#options, {
      token: () => this.#session?.token,
      onSession: (session) => {
        this.#session ??= session;
        if (session.visitorId === this.#session.visitorId) this.#session = session;
        else tab.faults.push(`became ${session.visitorId}, was ${this.#session.visitorId}`);
      },
      onClose: () => this.#tabs.delete(tab),
    });
    this.#tabs.add(tab);
    return tab;
  }

  say(text: string): void {
    this.said.push({ text, id: randomUUID(), seq: undefined });
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
  }

  async newConversation(): Promise<void> {
    const tab = this.#online();
    await tab?.ask('new_conversation', []).catch(() => undefined);
  }

  close(): void {
    this.#closed.abort();
    for (const tab of this.#tabs) tab.close();
  }

  #online(): HeadlessTab | undefined {
    return this.tabs.find(({ isOnline }) => isOnline);
  }

  async #send(): Promise<void> {
    const { signal } = this.#closed;
    const isClosed = (): boolean => signal.aborted;
    for (let next = this.said[this.#sent]; next !== undefined; next = this.said[this.#sent]) {
      const { id, text } = next;
      // Rejects when the connection is lost, or nothing comes in time.
      const answer = await this.#online()
        ?.ask<MessageAck>('message', [{ id, text }])
        .catch(() => undefined);
      if (isClosed()) return;
      if (answer?.ok === true) {
        next.seq = answer.seq;
        this.#sent += 1;
        continue;
      }
      const isTemporary =
        answer === undefined || answer.error === 'busy' || answer.error === 'rate_limited';
      if (!isTemporary) throw new Error(`refused: ${answer.error}`);
      const waitMs = answer?.retryAfter === undefined ? LOOK_EVERY_MS : answer.retryAfter * 1000;
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (isClosed()) return;
    }
  }
}

interface TabParts {
  readonly token: () => string | undefined;
  readonly onSession: (session: SessionEvent) => void;
  readonly onClose: () => void;
}

class HeadlessTab implements VisitorTab {
  readonly shown: ShownLine[] = [];
  readonly faults: string[] = [];
  readonly #parts: TabParts;
  readonly #ackTimeoutMs: number;
  readonly #socket: Socket<ServerToClientEvents, ClientToServerEvents>;
  #hasSession = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VisitorOptions, parts: TabParts) {
    const { url, key, onLine } = options;
    const [reconnectionDelay, reconnectionDelayMax] = options.reconnectMs ?? RECONNECT_MS;
    this.#parts = parts;
    this.#ackTimeoutMs = options.ackTimeoutMs ?? ACK_TIMEOUT_MS;
    this.#socket = io(url, {
      path: '/chat',
      auth: (give) => give({ key, token: parts.token(), lastSeq: this.#lastSeq }),
      transports: ['websocket'],
      ...{ reconnectionDelay, reconnectionDelayMax, forceNew: true },
      timeout: this.#ackTimeoutMs,
    });
    this.#socket.on('session', (session) => {
      this.#hasSession = true;
      parts.onSession(session);
    });
    this.#socket.on('message', (line) => {
      if (this.#take(line)) onLine?.(line);
    });
    this.#socket.on('disconnect', () => (this.#hasSession = false));
    // Refused by a gateway that is stopping: socket.io leaves what comes next to us.
    this.#socket.on('connect_error', () => {
      if (this.#socket.active) return;
      this.#timer = setTimeout(() => this.#socket.connect(), reconnectionDelayMax);
    });
  }

  get isOnline(): boolean {
    return this.#hasSession && this.#socket.connected;
  }

  get #lastSeq(): number {
    return this.shown.at(-1)?.seq ?? 0;
  }

  ask<Answer = PlainAck>(event: string, args: unknown[]): Promise<Answer> {
    const timed = this.#socket.timeout(this.#ackTimeoutMs);
    // socket.io types each event apart.
    const emit = timed.emitWithAck.bind(timed) as (...all: unknown[]) => Promise<Answer>;
    return emit(event, ...args);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#socket.disconnect();
    this.#parts.onClose();
  }

  /** As the widget does: what it has is ignored. @returns whether it was new */
  #take(line: MessageEvent): boolean {
    const known = this.shown[line.seq - 1];
    if (known !== undefined) {
      if (known.id !== line.id) this.faults.push(`${line.seq} is ${known.id} and ${line.id}`);
      return false;
    }
    if (line.seq !== this.#lastSeq + 1) this.faults.push(`${line.seq} after ${this.#lastSeq}`);
    const { seq, id, from, text } = line;
    this.shown.push({ seq, id, from, text });
    return true;
  }
}
