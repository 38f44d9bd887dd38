import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Router } from 'express';
import { Server } from 'socket.io';
import { errorFields } from '../../observability/logger.ts';
import { everyInStep } from '../../runtime/clock.ts';
import { ipNetwork } from '../../runtime/ip-addresses.ts';
import type { OpenBudget } from '../../runtime/budgets.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { MarkedState, StoredReply } from '../../spool/chat-store.ts';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import {
  type Admission,
  Connections,
  Handshake,
  HandshakeRefused,
  InFlight,
  type Peer,
  ReconnectDelays,
} from './connections.ts';
import { createUploadRouter } from './door-uploads.ts';
import { attachBeside, closeConnections, closeOneByOne, cutOff, unreadBytes } from './engine.ts';
import { CHAT_PATH, type ServerToClientEvents } from './events.ts';
import { type ChatLimits, ShopLimits } from './limits.ts';
import { toEvent } from './line-feed.ts';
import { Recognition, type SigningKey, VisitorTokens } from './recognition.ts';
import { SignalReader } from './signal-reader.ts';
import { ChatSession, type ChatSocket, type SessionParts, type SocketData } from './session.ts';
import { type ChatShop, Origins } from './shop.ts';
import { Visitors } from './visitors.ts';
import { atWork } from '../../runtime/main-thread.ts';

/**
 * The path of a visitor's message, from the socket to the payload:
 * - A socket connects here. `connections.ts` reads its `auth`, finds the shop by its key and counts
 *   the socket, as does `limits.ts`; `shop.ts` checks its origin, and `recognition.ts` finds the
 *   visitor.
 * - `session.ts` handles the visitor's events one after the other (`events.ts` has their types).
 * - `receive.ts` validates them and builds the arrival with its dedup key and remote id. `stored.ts`
 *   defines the stored form. Files were uploaded before, through `door-uploads.ts` and `uploads.ts`.
 * - `intake/intake.ts` stores the message durably with its number in the visitor's journal; the
 *   store chooses its lane (`spool/chat-rows.ts`). Only then `session.ts` acknowledges it, and
 *   `line-feed.ts` sends it to the tabs that `visitors.ts` lists.
 * - Delivery calls `normalize.ts` for the payload, and `messageSettled` here for the tick.
 * - `replies/reply-poller.ts` decides when to look for the agent's replies.
 *   `replies/shop-replies.ts` reads them with `conversation-lists.ts` and `message-reader.ts`, and
 *   stores them. `publish` here offers each to the tabs, and `line-feed.ts` sends it once.
 * - `signal-reader.ts` brings to the tabs here what other gateways stored for their visitors.
 * - `engine.ts` contains all use of engine.io beyond its interface; `door-widget.ts` serves the
 *   widget's files.
 */

export interface ChatServerOptions {
  readonly shops: readonly ChatShop[];
  /** The first key signs. */
  readonly signingKeys: readonly SigningKey[];
  /** The maximum number of sockets; further ones are refused as `busy`. */
  readonly maxSockets?: number;
}

export interface ChatServerParts extends Pick<
  SessionParts,
  'store' | 'signals' | 'intake' | 'conversations' | 'clock' | 'logger' | 'metrics' | 'replies'
> {
  readonly blobs: BlobStore;
  readonly openBudget: OpenBudget;
  /** The client's address, from trusted proxies' headers if there are any. */
  readonly clientIp: (request: IncomingMessage) => string;
}

export interface SettledMessage {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  /** The client's message id. */
  readonly messageId: string;
  readonly state: MarkedState;
}

const MAX_SOCKETS = 20_000;
const MAX_BUFFER_BYTES = 128 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** The time that clients get to close their connections at a stop. */
const CLOSE_GRACE_MS = 1_000;
/** When a client refused by a full gateway should try again. */
const RETRY_FULL_SECONDS = 30;
/** A connection with this many failed handshakes is cut off. */
const MAX_FAILED_HANDSHAKES = 3;
/** How often the clients' unread bytes are checked. */
const UNREAD_CHECK_MS = 1_000;
/** Packets in ten seconds other than messages: other calls, refusals, heartbeats and handshakes. */
const OTHER_PACKETS = 200;

type Connection = ChatSocket['conn'];

/** The server side of the chat channel; `attach` starts it. */
export class ChatServer {
  /** `POST /chat/uploads` */
  readonly router: Router;
  readonly visitors: Visitors;
  readonly #parts: ChatServerParts;
  readonly #maxSockets: number;
  readonly #shops: Map<string, ChatShop>;
  readonly #origins: Origins;
  readonly #limits: ShopLimits;
  readonly #recognition: Recognition;
  readonly #handshake: Handshake;
  readonly #io: ChatIo;
  readonly #sessionParts: SessionParts;
  readonly #stopUploads: () => Promise<void>;
  readonly #connections = new Connections();
  readonly #inFlight = new InFlight();
  readonly #waits = new ReconnectDelays();
  readonly #endUnreadChecks: () => void;
  readonly #reader: SignalReader;
  readonly #endSignals: () => void;
  #isAttached = false;
  /** Connections without a handshake must not use up the room of others. */
  #maxPerNetwork: number;
  #maxPackets: number;

  constructor(options: ChatServerOptions, parts: ChatServerParts) {
    const { store, signals, blobs, intake, conversations, clock, logger, metrics } = parts;
    const { shops } = options;
    this.#parts = parts;
    this.#maxSockets = options.maxSockets ?? MAX_SOCKETS;
    this.#maxPerNetwork = maxConnectionsPerNetwork(shops);
    this.#maxPackets = maxPackets(shops);
    this.#shops = new Map(shops.map((shop) => [shop.key, shop]));
    this.#origins = new Origins(shops);
    this.#limits = new ShopLimits(shops, parts.openBudget);
    const limits = (shop: ChatShop): ChatLimits => this.#limits.of(shop);
    const tokens = new VisitorTokens(options.signingKeys, clock);
    const visitors = new Visitors({ store, clock, limits });
    const recognition = new Recognition({
      ...{ store, visitors, signals, clock, logger },
      ...(parts.replies && { replies: parts.replies }),
    });
    this.visitors = visitors;
    this.#recognition = recognition;
    this.#handshake = new Handshake({ shops: this.#shops, tokens, recognition, clock, limits });
    this.#sessionParts = {
      ...{
        store,
        signals,
        intake,
        conversations,
        visitors,
        tokens,
        limits,
        clock,
        logger,
        metrics,
      },
      ...(parts.replies && { replies: parts.replies }),
      inFlight: this.#inFlight,
      onRefused: (connection) => {
        const conduct = this.#connections.get(connection)?.conduct;
        if (conduct?.refused(clock()) === true) this.#end(connection, 'flood');
      },
    };
    const uploads = createUploadRouter({
      ...{ store, blobs, visitors, tokens, limits, clock, logger, metrics },
      ...{ shops: this.#shops, origins: this.#origins },
      networkOf: (request) => this.#networkOf(request),
    });
    this.router = uploads.router;
    this.#stopUploads = () => uploads.stop();
    this.#io = createServer({
      admits: (origin) => this.#origins.someAdmits(origin),
      refusalOf: (request) => this.#refusalOf(request),
    });
    this.#io.use((socket, next) => this.#letIn(socket, next));
    this.#io.on('connection', (socket) => this.#begin(socket));
    this.#reader = new SignalReader({
      ...{ store, visitors, clock, logger },
      onSuperseded: (shopId, guest) => recognition.supersede(shopId, guest),
    });
    this.#endSignals = signals.subscribe(this.#reader);
    this.#endUnreadChecks = everyInStep(UNREAD_CHECK_MS, () => this.#lookAtUnread());
  }

  /**
   * Serves sockets under `/chat/` on this server. Call it after the server has its own `request`
   * listener (the express app), which keeps handling all other paths, including `/chat/uploads`.
   */
  attach(httpServer: HttpServer): void {
    this.#isAttached = true;
    attachBeside(this.#io, httpServer);
    const { clock } = this.#parts;
    const onPacket = (connection: Connection, type: string): void => {
      // engine.io handles "close" for long polling only (engine.io protocol v4).
      if (type === 'close') connection.close();
      const conduct = this.#connections.get(connection)?.conduct;
      if (conduct?.sent(clock(), this.#maxPackets) === true) this.#end(connection, 'flood');
    };
    // One function is shared by all connections, of which there may be many thousands.
    function packetListener(this: Connection, { type }: { readonly type: string }): void {
      atWork('chat');
      onPacket(this, type);
    }
    // socket.io declares its engine as a generic event emitter.
    this.#io.engine.on('connection', (connection: Connection) => {
      const { request } = connection;
      this.#connections.open(connection, request, this.#networkOf(request));
      connection.on('packet', packetListener);
      connection.once('close', () => this.#connections.close(connection));
      // Otherwise the first request would stay in memory as long as the socket (1 to 2 kB each).
      Reflect.set(connection, 'request', null);
    });
  }

  /**
   * Stores what became of a visitor's message and sends it to every open tab, unless it comes too
   * late: a message that a person has seen was delivered.
   */
  async messageSettled({ shopId, visitorId, messageId, state }: SettledMessage): Promise<void> {
    const { store, signals } = this.#parts;
    // The message belongs to another visitor if its author has been merged with them.
    const owner = await store.markMessage(shopId, visitorId, messageId, state);
    if (owner === undefined) return;
    signals.publish({ shopId, visitorId: owner, what: 'tick', messageId, state });
  }

  /** Sends a reply that was just stored, or its new text, to every open tab. */
  publish(shopId: ShopId, { visitorId, line, isNew }: StoredReply): void {
    const { clock, signals } = this.#parts;
    if (!isNew) {
      signals.publish({ shopId, visitorId, what: 'revised', rev: line.rev ?? 0 });
      return;
    }
    const visitor = this.visitors.find(shopId, visitorId);
    if (visitor !== undefined) {
      visitor.answeredAt = clock();
      const event = toEvent(line, visitor.shop);
      for (const tab of visitor.tabs) tab.offer(event);
    }
    signals.publish({ shopId, visitorId, what: 'line', seq: line.seq });
  }

  /**
   * Replaces the shops. Tabs of a removed shop are closed and refused as unknown when they
   * reconnect; all other tabs stay connected.
   */
  serve(next: readonly ChatShop[]): void {
    const gone = new Set([...this.#shops.values()].map(({ shopId }) => shopId));
    this.#shops.clear();
    for (const shop of next) {
      this.#shops.set(shop.key, shop);
      gone.delete(shop.shopId);
    }
    this.#origins.serve(next);
    this.#limits.serve(next);
    this.#maxPerNetwork = maxConnectionsPerNetwork(next);
    this.#maxPackets = maxPackets(next);
    for (const shopId of gone) this.visitors.closeShop(shopId);
  }

  /** Closes the connections that are open now, one by one within this time. */
  async leave(overMs: number): Promise<void> {
    if (this.#isAttached) await closeOneByOne(this.#io.engine, overMs);
  }

  /** Refuses new requests, sends pending acknowledgements, and closes all sockets. */
  async stop(): Promise<void> {
    this.#endUnreadChecks();
    this.#endSignals();
    await Promise.all([this.#inFlight.close(), this.#stopUploads()]);
    // Connections are closed rather than sockets: clients reconnect after a lost connection, but
    // not after a disconnect by the server. io.close() would also close the HTTP server, which has
    // another owner.
    if (this.#isAttached) await closeConnections(this.#io.engine, CLOSE_GRACE_MS);
  }

  #networkOf(request: IncomingMessage): string {
    return ipNetwork(this.#parts.clientIp(request));
  }

  /** Why a connection is refused before its handshake; undefined if it is not. */
  #refusalOf(request: IncomingMessage): string | undefined {
    // Above the limit, some connections are accepted and refused in the handshake, because a
    // browser cannot see why a request was refused.
    const maxConnections = Math.ceil(this.#maxSockets * 1.1);
    if (this.#inFlight.closed || this.#io.engine.clientsCount >= maxConnections) return 'busy';
    if (!this.#origins.someAdmits(request.headers.origin)) return 'origin';
    const network = this.#networkOf(request);
    if (this.#waits.hasTooManyAttempts(network, this.#parts.clock())) return 'rate_limited';
    const isFull = this.#connections.countOf(network) >= this.#maxPerNetwork;
    return isFull ? 'rate_limited' : undefined;
  }

  /** The handshake of a socket. */
  #letIn(socket: ChatSocket, next: (error?: HandshakeRefused) => void): void {
    const connection = this.#connections.get(socket.conn);
    if (connection === undefined || connection.isTaken) {
      next(this.#refuse(socket, new HandshakeRefused('busy')));
      return;
    }
    connection.isTaken = true;
    this.#inFlight.begin();
    this.#admit(socket, connection.peer)
      .then(
        () => next(),
        (error: unknown) => {
          connection.isTaken = false;
          next(this.#refuse(socket, error));
        },
      )
      .finally(() => this.#inFlight.end());
  }

  /** @throws {HandshakeRefused} and the errors of the store */
  async #admit(socket: ChatSocket, peer: Peer): Promise<void> {
    if (this.#inFlight.closed) throw new HandshakeRefused('busy');
    if (this.#io.engine.clientsCount > this.#maxSockets) {
      throw new HandshakeRefused('busy', { retryAfter: RETRY_FULL_SECONDS });
    }
    const admission = await this.#handshake.admit(socket.handshake.auth, peer);
    // An office shares an address, so visitors with a record are delayed only for their own
    // violations.
    const keys = [keyOf(admission), ...(admission.record === undefined ? [peer.network] : [])];
    for (const key of keys) {
      const retryAfter = this.#waits.retryAfter(key, this.#parts.clock());
      if (retryAfter !== undefined) throw new HandshakeRefused('rate_limited', { retryAfter });
    }
    socket.data.admission = admission;
    // The tokens in it are no longer needed.
    socket.handshake.auth = {};
  }

  #refuse(socket: ChatSocket, error: unknown): HandshakeRefused {
    const { logger, metrics } = this.#parts;
    if (!(error instanceof HandshakeRefused)) {
      logger.error('chat.handshake_failed', errorFields(error));
    }
    const refused = error instanceof HandshakeRefused ? error : new HandshakeRefused('busy');
    metrics.refused.inc({ channel: 'web_chat', reason: refused.data.code });
    logger.debug('chat.refused', { code: refused.data.code });
    const connection = this.#connections.get(socket.conn);
    if (connection !== undefined) {
      connection.failedHandshakes += 1;
      if (connection.failedHandshakes >= MAX_FAILED_HANDSHAKES) {
        setImmediate(() => socket.conn.close());
      }
    }
    return refused;
  }

  /** A socket whose handshake succeeded. */
  #begin(socket: ChatSocket): void {
    const { admission } = socket.data;
    // The middleware refuses sockets without one.
    if (admission === undefined || this.#inFlight.closed || this.#isLate(admission)) {
      socket.conn.close();
      return;
    }
    delete socket.data.admission;
    const connection = this.#connections.get(socket.conn);
    if (connection !== undefined) connection.visitor = keyOf(admission);
    const { chatSockets } = this.#parts.metrics;
    chatSockets.inc();
    socket.on('disconnect', () => {
      chatSockets.dec();
      if (connection !== undefined) connection.isTaken = false;
    });
    const session = new ChatSession(socket, admission, this.#sessionParts);
    this.#reader.entered(session.visitor);
  }

  /** Another tab identified this guest while this tab was being admitted. */
  #isLate({ shop, visitorId, record }: Admission): boolean {
    return record?.subject === undefined && this.#recognition.isSuperseded(shop, visitorId);
  }

  #lookAtUnread(): void {
    for (const [connection, { conduct }] of this.#connections.all()) {
      const isLeft = conduct.leftUnread(unreadBytes(connection), this.#parts.clock());
      if (isLeft) this.#end(connection, 'unread');
    }
  }

  /** Ends a connection that misbehaves, and delays its network and its visitor. */
  #end(connection: Connection, reason: 'flood' | 'unread'): void {
    if (connection.readyState !== 'open') return;
    const { metrics, logger, clock } = this.#parts;
    const { visitor, peer } = this.#connections.get(connection) ?? {};
    for (const key of [peer?.network, visitor]) {
      if (key !== undefined) this.#waits.cutOff(key, clock());
    }
    metrics.refused.inc({ channel: 'web_chat', reason });
    logger.warn('chat.cut_off', { reason, visitor });
    cutOff(connection);
  }
}

const maxConnectionsPerNetwork = (shops: readonly ChatShop[]): number =>
  2 * Math.max(...shops.map((shop) => shop.limits.socketsPerIp), 1);
const maxPackets = (shops: readonly ChatShop[]): number =>
  OTHER_PACKETS + Math.max(...shops.map((shop) => shop.limits.messagesPer10s), 0);

/** The key under which a visitor is delayed. */
const keyOf = ({ shop, visitorId }: Admission): string => `${shop.shopId}/${visitorId}`;

type ChatIo = Server<
  Record<string, (...args: unknown[]) => void>,
  ServerToClientEvents,
  Record<string, never>,
  SocketData
>;

function createServer(gate: {
  readonly admits: (origin: string | undefined) => boolean;
  readonly refusalOf: (request: IncomingMessage) => string | undefined;
}): ChatIo {
  return new Server({
    path: CHAT_PATH,
    serveClient: false,
    transports: ['websocket', 'polling'],
    maxHttpBufferSize: MAX_BUFFER_BYTES,
    connectTimeout: CONNECT_TIMEOUT_MS,
    perMessageDeflate: false,
    httpCompression: false,
    // `cors` applies to polling only; browsers allow WebSockets to any origin.
    cors: { origin: (origin, answer) => answer(null, gate.admits(origin)) },
    allowRequest: (request, answer) => {
      const refusal = gate.refusalOf(request);
      answer(refusal, refusal === undefined);
    },
  });
}
