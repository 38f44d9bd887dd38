import type { ReadonlySignal } from '@preact/signals-core';
import { io, type Socket } from 'socket.io-client';
import { Decoder, Encoder } from 'socket.io-parser';
import {
  CHAT_PATH,
  type ClientToServerEvents,
  type HandshakeAuth,
  type HandshakeCode,
  type HistoryAck,
  type HistoryRequest,
  type MessageAck,
  type MessageEvent,
  type MessageRequest,
  type PlainAck,
  type ProfileAck,
  type ProfileRequest,
  type RateRequest,
  type SeenRequest,
  type ServerToClientEvents,
  type SessionEvent,
  type StatusEvent,
  type UpdateEvent,
  type WidgetRefusal,
} from '../../channels/chat/events.ts';
import { asIs, type GatewayAddress } from '../storage.ts';
import type { ConnectionState } from './chat.ts';
import { backoffMs, type Timing } from './timing.ts';

type ChatSocket = Socket<ServerToClientEvents, ClientToServerEvents>;
/** The requests that the server answers. */
interface Requests {
  message: { payload: MessageRequest; answer: MessageAck };
  history: { payload: HistoryRequest; answer: HistoryAck };
  seen: { payload: SeenRequest; answer: PlainAck };
  profile: { payload: ProfileRequest; answer: ProfileAck };
  rate: { payload: RateRequest; answer: PlainAck };
  new_conversation: { payload: undefined; answer: PlainAck };
}

interface ConnectionParts {
  readonly address: GatewayAddress;
  readonly timing: Timing;
  readonly now: () => number;
  /** Known before the first attempt; there is none then. */
  readonly refused: WidgetRefusal | undefined;
  /** Called for every attempt. */
  readonly auth: () => HandshakeAuth;
  readonly onState: (state: ConnectionState) => void;
  /** @returns false when the session is out of date: the tab connects again */
  readonly onSession: (session: SessionEvent) => boolean;
  readonly onMessage: (message: MessageEvent) => void;
  readonly onStatus: (status: StatusEvent) => void;
  readonly onUpdate: (update: UpdateEvent) => void;
  readonly onBadIdentity: () => void;
}

/** Sends values as they are. */
export class PlainEncoder extends Encoder {
  constructor() {
    super(asIs);
  }
}

/** After a connection that lasted this long, the backoff starts again at its minimum. */
const STEADY_MS = 5_000;

/**
 * The connection to the gateway, which is made again whenever it is lost. Each attempt has its own
 * socket: socket.io buffers what is emitted on a closed socket and sends it after a reconnect, when
 * the visitor may be another one.
 *
 * `idle` → `connecting` → `online`; from there to `connecting`, to `offline` once an attempt has
 * failed, and to `refused` when the server says why. `stop` ends in `idle` from anywhere.
 */
export class Connection {
  readonly #parts: ConnectionParts;
  #state: ConnectionState = { state: 'idle' };
  #socket: ChatSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #onlineSince = 0;
  #transports = ['websocket', 'polling'];

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get isOnline(): boolean {
    return this.#state.state === 'online';
  }

  /**
   * @param isFollower leaves another tab the time to make a visitor, whose session restarts this one;
   *   each would make one of its own otherwise
   */
  start(isFollower?: boolean): void {
    if (this.#state.state !== 'idle') return;
    if (isFollower) {
      this.#set({ state: 'connecting' });
      this.#retryIn(this.#backoff());
    } else this.#connect();
  }

  /** @param isLogout has the gateway end the visitor's tokens, if it is connected */
  stop(isLogout?: boolean): void {
    this.#close(isLogout && this.isOnline);
    this.#set({ state: 'idle' });
  }

  /** Connects again, as the visitor that `auth` names now. */
  restart(): void {
    this.#attempt = 0;
    this.#connect();
  }

  /**
   * The page or the network is back: checks the connection, or connects without further waiting.
   */
  checkNow(): void {
    const { state } = this.#state;
    if (state === 'online') void this.#probe();
    else if (state === 'offline' || (state === 'connecting' && this.#socket === undefined)) {
      this.restart();
    }
  }

  /** Closes a connection that is lost: the server does not answer, or there is no network. */
  drop(isOffline = false): void {
    const { state } = this.#state;
    if (this.#socket === undefined) {
      if (isOffline && state === 'connecting') this.#set({ state: 'offline' });
      return;
    }
    this.#close();
    const isSteady = state === 'online' && performance.now() - this.#onlineSince > STEADY_MS;
    if (isSteady) this.#attempt = 0;
    this.#set({ state: state === 'online' && !isOffline ? 'connecting' : 'offline' });
    this.#retryIn(this.#backoff());
  }

  /** Undefined: there was no answer in time, or there is no connection. */
  async request<Event extends keyof Requests>(
    event: Event,
    payload?: Requests[Event]['payload'],
    timeoutMs = this.#parts.timing.ackTimeoutMs,
  ): Promise<Requests[Event]['answer'] | undefined> {
    const socket = this.#socket;
    if (!this.isOnline || socket === undefined) return undefined;
    return new Promise((resolve) => {
      // socket.io has a type for each event; `Requests` has the same types for a generic event.
      const timed: { emit(event: string, ...args: unknown[]): unknown } = socket.timeout(timeoutMs);
      const args = payload === undefined ? [] : [payload];
      // With an error, there is no answer.
      timed.emit(event, ...args, (_error: unknown, answer?: Requests[Event]['answer']) =>
        resolve(answer),
      );
    });
  }

  #connect(): void {
    this.#close();
    const { address, auth, timing, refused: code, ...parts } = this.#parts;
    if (code) {
      this.#set({ state: 'refused', code });
      return;
    }
    if (this.#state.state !== 'offline') this.#set({ state: 'connecting' });
    const socket: ChatSocket = io(address.origin, {
      path: address.basePath + CHAT_PATH,
      auth: (give) => give({ ...auth() }),
      transports: this.#transports,
      tryAllTransports: true,
      reconnection: false,
      forceNew: true,
      parser: { Decoder, Encoder: PlainEncoder },
      // Longer than the timer below, which also decides what to do next.
      timeout: 2 * timing.connectTimeoutMs,
    });
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#timedOut(), timing.connectTimeoutMs);
    socket.on('session', (session) => this.#acceptSession(session));
    socket.on('message', (message, received) => {
      parts.onMessage(message);
      received?.();
    });
    socket.on('status', parts.onStatus);
    socket.on('update', parts.onUpdate);
    socket.on('connect_error', (error) => this.#failed(error));
    socket.on('disconnect', () => this.drop());
  }

  #acceptSession(session: SessionEvent): void {
    clearTimeout(this.#timer);
    if (!this.#parts.onSession(session)) {
      this.#connect();
      return;
    }
    this.#onlineSince = performance.now();
    this.#set({ state: 'online' });
  }

  /**
   * Some proxies drop WebSocket requests without an answer: the next attempt uses the other
   * transport first.
   */
  #timedOut(): void {
    this.#transports.reverse();
    this.#failed();
  }

  #failed(error?: unknown): void {
    this.#close();
    const refusal = refusalOf(error);
    if (refusal === undefined) {
      this.#set({ state: 'offline' });
      this.#retryIn(this.#backoff());
      return;
    }
    const { code, retryAfter = 0 } = refusal;
    if (code === 'unknown_key' || code === 'origin') {
      this.#set({ state: 'refused', code });
    } else if (code === 'bad_identity') {
      this.#set({ state: 'refused', code });
      this.#parts.onBadIdentity();
      this.#connect();
    } else {
      const wait = retryAfter * 1000 + this.#backoff();
      this.#set({ state: 'refused', code, retryAt: this.#parts.now() + wait });
      this.#retryIn(wait);
    }
  }

  /** Detects a connection that was lost unnoticed, for example while the page was suspended. */
  async #probe(): Promise<void> {
    const socket = this.#socket;
    const answer = await this.request('seen', { seq: 0 }, this.#parts.timing.probeTimeoutMs);
    if (answer === undefined && socket === this.#socket) this.drop();
  }

  #backoff(): number {
    const { reconnectMs, maxReconnectMs } = this.#parts.timing;
    const wait = backoffMs(this.#attempt, { minMs: reconnectMs, maxMs: maxReconnectMs });
    this.#attempt += 1;
    return wait;
  }

  #retryIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), ms);
  }

  #close(isLogout?: boolean): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.off();
    const end = (): void => void socket?.disconnect();
    // The server ignores an event that arrives together with a disconnect. It closes the connection
    // after a logout, and a lost one ends by itself.
    if (isLogout) socket?.emit('logout', end);
    else end();
  }

  #set(state: ConnectionState): void {
    const { state: before } = this.#state;
    if (before === state.state && state.state !== 'refused') return;
    this.#state = state;
    this.#parts.onState(state);
  }
}

/** Resolves when there is a connection, when none is being made, or after `timeoutMs`. */
export async function untilOnline(
  connection: ReadonlySignal<ConnectionState>,
  timeoutMs: number,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let unsubscribe: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
    unsubscribe = connection.subscribe(({ state }) => {
      if (state === 'online' || state === 'idle') resolve();
    });
  });
  clearTimeout(timer);
  unsubscribe?.();
}

/** Why the gateway refused the connection, and when to try again. */
export interface Refusal {
  readonly code: HandshakeCode;
  /** Seconds. */
  readonly retryAfter?: number;
}

const CODES: readonly unknown[] = [
  'unknown_key',
  'origin',
  'bad_identity',
  'rate_limited',
  'busy',
] satisfies HandshakeCode[];

/**
 * Reads a `connect_error`. A refusal by the handshake is in `data`; a refusal of the HTTP request
 * is in the response's body, which only long polling can read.
 * @returns undefined for an error of the network
 */
export function refusalOf(error: unknown): Refusal | undefined {
  const { data, context } = asRecord(error);
  const { code, retryAfter } = asRecord(data);
  if (isCode(code)) return { code, ...(typeof retryAfter === 'number' && { retryAfter }) };
  const { message } = asRecord(bodyOf(context));
  return isCode(message) ? { code: message } : undefined;
}

const isCode = (value: unknown): value is HandshakeCode => CODES.includes(value);

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function bodyOf(request: unknown): unknown {
  try {
    // This getter throws when the response is not text.
    return JSON.parse(String(asRecord(request)['responseText']));
  } catch {
    return undefined;
  }
}
