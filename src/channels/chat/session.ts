import type { DefaultEventsMap, Socket } from 'socket.io';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { JournalLine } from '../../spool/chat-store.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import type { Signals } from '../../spool/signals.ts';
import { drained, MAX_UNREAD_BYTES, STEP_BYTES, unreadBytes, writeTogether } from './engine.ts';
import {
  type ErrorWord,
  type Failure,
  type HistoryAck,
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_HISTORY,
  MAX_TEXT,
  type MessageAck,
  type MessageEvent,
  type PlainAck,
  type ProfileAck,
  type ServerToClientEvents,
  type StatusEvent,
} from './events.ts';
import type { Admission, InFlight } from './connections.ts';
import type { ChatLimits, Limited } from './limits.ts';
import { LineFeed, RevisionFeed, toEvent } from './line-feed.ts';
import {
  chatArrival,
  faultOf,
  historyRequestSchema,
  messageRequestSchema,
  profileRequestSchema,
  rateRequestSchema,
  seenRequestSchema,
} from './receive.ts';
import type { VisitorTokens } from './recognition.ts';
import { noteSeen, rate, type Refused, type RequestParts, setProfile } from './visitor-requests.ts';
import type { ChatShop } from './shop.ts';
import { type PresentVisitor, type Tab, TooManyVisitors, type Visitor } from './visitors.ts';

export interface SocketData {
  admission?: Admission;
}
/** Payloads are `unknown` until a schema has validated them. */
export type ChatSocket = Socket<
  DefaultEventsMap,
  ServerToClientEvents,
  Record<string, never>,
  SocketData
>;

export interface SessionParts extends RequestParts {
  readonly signals: Signals;
  readonly intake: Pick<Intake, 'accept' | 'acceptChat'>;
  readonly tokens: VisitorTokens;
  readonly limits: (shop: ChatShop) => ChatLimits;
  readonly inFlight: InFlight;
  /** Called for every refusal. */
  readonly onRefused: (connection: ChatSocket['conn']) => void;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type Ack<Answer> = (answer: Answer | Failure) => void;

/** Without a limit, a store that hangs would exhaust the memory. */
const MAX_IN_FLIGHT = 10_000;
const RETRY_BUSY: Limited = { retryAfter: 1 };
/** The lines of one replay step. */
const STEP_LINES = 100;
/** The newest changes to lines that a returning client may have missed. */
const MAX_REVISIONS = 100;
/** Older lines are available through `history` only. */
const MAX_REPLAY = 1_000;
const DEFAULT_HISTORY = 50;

/** One connected tab of a visitor: validates, handles and answers each event. */
export class ChatSession implements Tab {
  readonly logouts: number;
  readonly #socket: ChatSocket;
  readonly #parts: SessionParts;
  readonly #network: string;
  readonly #visitor: Visitor;
  readonly #feed: LineFeed;
  readonly #revisions: RevisionFeed;
  /** The replies that this tab has not confirmed. */
  readonly #unconfirmed: string[] = [];
  /** The events of one socket are stored in the order in which they were sent. */
  readonly #writes = new SerialQueue();
  /**
   * History requests do not wait for writes; they run one at a time, so that each sees the unread
   * bytes.
   */
  readonly #reads = new SerialQueue();

  /** Enters the visitor's tabs before reading what it missed, so that no line is lost in between. */
  constructor(socket: ChatSocket, admission: Admission, parts: SessionParts) {
    const { shop, visitorId, record, lastSeq, network } = admission;
    this.#socket = socket;
    this.#parts = parts;
    this.#network = network;
    this.logouts = record?.logouts ?? 0;
    this.#visitor = parts.visitors.enter(shop, visitorId, record, this);
    // A client that reconnects is sent the lines that it missed.
    const onError = (error: unknown): void => {
      parts.logger.error('chat.replay_failed', { visitor: visitorId, ...errorFields(error) });
      socket.conn.close();
    };
    this.#feed = new LineFeed(Math.max(lastSeq, (record?.lastSeq ?? 0) - MAX_REPLAY), {
      read: (after) =>
        parts.store.linesAfter(shop.shopId, visitorId, after, STEP_LINES, STEP_BYTES),
      emit: (line, isLast, state) => this.#emitLine(line, isLast, state),
      toEvent: (line) => toEvent(line, shop),
      hasRoom: () => unreadBytes(socket.conn) <= MAX_UNREAD_BYTES,
      drained: () => drained(socket.conn),
      onError,
    });
    const lastRev = record?.lastRev ?? 0;
    this.#revisions = new RevisionFeed(
      lastSeq > 0 ? Math.max(0, lastRev - MAX_REVISIONS) : lastRev,
      {
        read: (after) =>
          parts.store.linesRevised(shop.shopId, visitorId, after, STEP_LINES, STEP_BYTES),
        emit: ({ seq, rev = 0, text, format }) => socket.emit('update', { seq, rev, text, format }),
        drained: () => drained(socket.conn),
        onError,
      },
    );
    socket.on('disconnect', () => this.#leave());
    this.#greet(record?.lastSeq ?? 0);
    this.#feed.catchUp();
    this.#revisions.announce(lastRev);
    this.#listen();
  }

  get visitor(): PresentVisitor {
    return this.#visitor;
  }

  offer(line: MessageEvent): void {
    this.#feed.offer(line);
  }

  announce(seq: number): void {
    this.#feed.announce(seq);
  }

  announceRevision(rev: number): void {
    this.#revisions.announce(rev);
  }

  status(status: StatusEvent): void {
    this.#socket.emit('status', status);
  }

  catchUp(): void {
    this.#feed.catchUp();
  }

  close(): void {
    this.#socket.conn.close();
  }

  #greet(lastSeq: number): void {
    const { shop, visitorId, record } = this.#visitor;
    const verified = record?.subject !== undefined;
    this.#socket.emit('session', {
      token: this.#parts.tokens.mint({
        ...{ widgetKey: shop.key, visitorId, verified, logouts: this.logouts },
      }),
      visitorId,
      lastSeq,
      seenSeq: record?.seenSeq ?? 0,
      verified,
      limits: { text: MAX_TEXT, files: MAX_FILES, fileBytes: MAX_FILE_BYTES },
      ...(record?.name && { name: record.name }),
      ...(record?.email && { email: record.email }),
    });
  }

  #leave(): void {
    this.#feed.close();
    this.#revisions.close();
    this.#parts.visitors.leave(this.#visitor, this);
  }

  #emitLine(line: MessageEvent, isLast: boolean, state: JournalLine['state'] | undefined): void {
    const { replies } = this.#parts;
    const { shopId, record } = this.#visitor;
    const isNew = line.from === 'agent' && line.seq > (record?.seenSeq ?? 0);
    if (isNew && replies !== undefined) this.#unconfirmed.push(line.id);
    const shown = this.#withFiles(line);
    // One for several lines: the packets of a client are limited, and they arrive in order.
    if (isLast && this.#unconfirmed.length > 0) {
      const ids = this.#unconfirmed.splice(0);
      this.#socket.emit('message', shown, () => replies?.report(shopId, ids, 'delivered'));
    } else {
      this.#socket.emit('message', shown);
    }
    if (state !== undefined && line.from === 'visitor') this.status({ id: line.id, state });
  }

  #listen(): void {
    this.#on('message', (payload, ack: Ack<MessageAck>) => this.#message(payload, ack));
    this.#onLimited('history', (payload) => this.#history(payload));
    this.#onLimited('seen', (payload) => this.#seen(payload));
    this.#onLimited('profile', (payload) => this.#profile(payload));
    this.#onLimited('rate', (payload) => this.#rate(payload));
    this.#onLimited('new_conversation', () => this.#newConversation());
    this.#onLimited('logout', () => this.#logOut());
    const known = new Set<string | symbol>(this.#socket.eventNames());
    this.#socket.onAny((event: string, ...args: unknown[]) => {
      if (!known.has(event)) ackOf(args)(this.#refuse('invalid'));
    });
  }

  /** Every event gets a response, even when it fails; no error closes the socket. */
  #on<Answer>(event: string, handle: (payload: unknown, ack: Ack<Answer>) => Promise<void>): void {
    const { inFlight } = this.#parts;
    this.#socket.on(event, (...args: unknown[]) => {
      const ack = ackOf<Answer>(args);
      if (inFlight.closed || inFlight.count >= MAX_IN_FLIGHT) {
        ack(this.#refuse('busy', inFlight.closed ? undefined : RETRY_BUSY));
        return;
      }
      inFlight.begin();
      handle(typeof args[0] === 'function' ? undefined : args[0], ack)
        .catch((error: unknown) => ack(this.#failure(error)))
        .finally(() => inFlight.end());
    });
  }

  /** All events except messages share one rate. */
  #onLimited<Answer>(event: string, handle: (payload: unknown) => Promise<Answer | Failure>): void {
    this.#on(event, async (payload, ack: Ack<Answer>) => {
      const { shop, visitorId } = this.#visitor;
      const limited = await this.#parts.limits(shop).call(visitorId);
      ack(limited ? this.#refuse('rate_limited', limited) : await handle(payload));
    });
  }

  async #message(payload: unknown, ack: Ack<MessageAck>): Promise<void> {
    const receivedAt = this.#parts.clock();
    const { shop, visitorId } = this.#visitor;
    const limited = await this.#parts.limits(shop).message(visitorId);
    if (limited !== undefined) ack(this.#refuse('rate_limited', limited));
    else await this.#writes.take(() => this.#accept(payload, receivedAt, ack));
  }

  async #accept(payload: unknown, receivedAt: number, ack: Ack<MessageAck>): Promise<void> {
    const { store, intake, visitors, metrics, clock, logger } = this.#parts;
    const { shop, visitorId } = this.#visitor;
    const request = messageRequestSchema.safeParse(payload).data;
    const fault = request === undefined ? 'invalid' : faultOf(request);
    if (request === undefined || fault !== undefined) {
      ack(this.#refuse(fault ?? 'invalid'));
      return;
    }
    const { id: messageId, uploads: uploadIds = [] } = request;
    const page = shop.widget?.pageLine === true ? request.page : undefined;
    // The store cannot keep a NUL, and no text needs one.
    const text = request.text.replaceAll('\0', '');
    const record = this.#visitor.record ?? (await visitors.stored(shop, visitorId, this.#network));
    const uploads =
      uploadIds.length === 0 ? [] : await store.unusedUploads(shop.shopId, visitorId, uploadIds);
    const accepted = await intake.acceptChat(
      chatArrival(shop.shopId, record, {
        ...{ id: messageId, text, uploads, page, receivedAt },
        network: this.#network,
      }),
      { visitorId, messageId, text, uploadIds },
    );
    if (accepted === 'unknown_upload') {
      ack(this.#refuse('unknown_upload'));
      return;
    }
    if (accepted === 'joined') {
      // The visitor was identified in another tab and nothing was stored. Without a response, the
      // client sends the message again as the identified visitor.
      this.close();
      return;
    }
    // Acknowledged only now that it is durable.
    const { seq, at, duplicate } = accepted;
    writeTogether(this.#socket.conn, () => {
      ack({ ok: true, seq });
      if (duplicate) return;
      const attachments = uploads.map(({ id, name, type, size }) => ({ id, name, type, size }));
      const common = { from: 'visitor', format: 'TEXT' } as const;
      this.#publish({ ...common, seq, id: messageId, text, attachments, at });
    });
    metrics.ackSeconds.observe({ channel: 'web_chat' }, (clock() - receivedAt) / 1000);
    logger.debug('chat.accepted', { entry: accepted.id, visitor: visitorId, seq, duplicate });
  }

  /** Sends the line to every tab, including the sender's own. */
  #publish(line: MessageEvent): void {
    const { visitors, signals } = this.#parts;
    const { shopId, visitorId } = this.#visitor;
    visitors.active(shopId, visitorId, line.at);
    // Looked up again, because tabs may have closed or opened during the write.
    for (const tab of visitors.find(shopId, visitorId)?.tabs ?? []) tab.offer(line);
    signals.publish({ shopId, visitorId, what: 'line', seq: line.seq });
  }

  async #history(payload: unknown): Promise<HistoryAck> {
    const request = historyRequestSchema.safeParse(payload ?? {}).data;
    if (request === undefined) return this.#refuse('invalid');
    return this.#reads.take(async () => {
      // A client that requests history without reading it would exhaust the memory.
      if (unreadBytes(this.#socket.conn) > STEP_BYTES / 2) return this.#refuse('busy', RETRY_BUSY);
      const { shopId, visitorId } = this.#visitor;
      const lines = await this.#parts.store.linesBefore(
        shopId,
        visitorId,
        request.before ?? Number.MAX_SAFE_INTEGER,
        Math.min(request.limit ?? DEFAULT_HISTORY, MAX_HISTORY),
        STEP_BYTES,
      );
      for (const { from, id: messageId, state } of lines) {
        if (from === 'visitor') this.status({ id: messageId, state });
      }
      const messages = lines.map((line) => this.#withFiles(toEvent(line, this.#visitor.shop)));
      return { ok: true, messages, more: (lines[0]?.seq ?? 1) > 1 };
    });
  }

  /** The journal has the files of visitors only. */
  #withFiles(line: MessageEvent): MessageEvent {
    if (line.from === 'visitor') return line;
    const attachments = this.#parts.replies?.filesOf(this.#visitor.shopId, line.id) ?? [];
    return attachments.length === 0 ? line : { ...line, attachments };
  }

  async #seen(payload: unknown): Promise<PlainAck> {
    const request = seenRequestSchema.safeParse(payload).data;
    if (request === undefined) return this.#refuse('invalid');
    // A line that was never sent cannot have been seen.
    await noteSeen(this.#visitor, Math.min(request.seq, this.#feed.sent), this.#parts);
    return { ok: true };
  }

  async #profile(payload: unknown): Promise<ProfileAck> {
    const request = profileRequestSchema.safeParse(payload).data;
    if (request === undefined) return this.#refuse('invalid');
    return this.#writes.take(async () =>
      this.#orRefusal(await setProfile(this.#visitor, this.#network, request, this.#parts)),
    );
  }

  async #rate(payload: unknown): Promise<PlainAck> {
    const request = rateRequestSchema.safeParse(payload).data;
    if (request === undefined) return this.#refuse('invalid');
    return this.#orRefusal(await rate(this.#visitor, request, this.#parts));
  }

  /** Also closes this connection, as those of the visitor's other tabs. */
  async #logOut(): Promise<PlainAck> {
    const { shopId, visitorId } = this.#visitor;
    await this.#parts.store.logOut(shopId, visitorId);
    this.#parts.signals.publish({ shopId, visitorId, what: 'logged_out' });
    return { ok: true };
  }

  #newConversation(): Promise<PlainAck> {
    return this.#writes.take(async () => {
      const { shopId, visitorId } = this.#visitor;
      await this.#parts.store.startConversation(shopId, visitorId);
      return { ok: true };
    });
  }

  #orRefusal<Answer extends object>(outcome: Answer | Refused): Answer | Failure {
    return 'refused' in outcome ? this.#refuse(outcome.refused, outcome.limited) : outcome;
  }

  #refuse(error: ErrorWord, limited?: Limited): Failure {
    this.#parts.metrics.refused.inc({ channel: 'web_chat', reason: error });
    this.#parts.onRefused(this.#socket.conn);
    return { ok: false, error, ...limited };
  }

  #failure(error: unknown): Failure {
    if (error instanceof TooManyVisitors) return this.#refuse('rate_limited', error.limited);
    const isExpected = error instanceof SpoolFull || error instanceof SpoolUnavailable;
    this.#parts.logger[isExpected ? 'warn' : 'error']('chat.failed', {
      visitor: this.#visitor.visitorId,
      ...errorFields(error),
    });
    return this.#refuse('busy');
  }
}

/** socket.io appends a function only if the client requested a response. */
function ackOf<Answer>(args: readonly unknown[]): Ack<Answer> {
  const last = args.at(-1);
  const send = typeof last === 'function' ? (last as Ack<Answer>) : undefined;
  return (answer) => send?.(answer);
}

/** Runs steps one after the other, in the order of the calls. */
class SerialQueue {
  #last: Promise<void> = Promise.resolve();

  take<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(step);
    this.#last = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }
}
