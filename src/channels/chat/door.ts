import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Router } from 'express';
import { Server } from 'socket.io';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ipNetwork } from '../../runtime/ip-network.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { ChatStore, JournalLine } from '../../spool/chat-store.ts';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { ChatShop } from './shop.ts';
import { ChatSession, type ChatSocket, type SocketData } from './session.ts';
import { ReconnectWaits } from './conduct.ts';
import { Connections } from './connections.ts';
import { CHAT_PATH, type ServerToClientEvents } from './events.ts';
import { type Admission, Handshake, HandshakeRefused } from './handshake.ts';
import { hangUp } from './hang-up.ts';
import { InFlight } from './in-flight.ts';
import type { ChatLimits } from './limits.ts';
import { toEvent } from './line-feed.ts';
import { Origins } from './origins.ts';
import type { Presence } from './presence.ts';
import { Recognition } from './recognition.ts';
import { ShopLimits } from './shop-limits.ts';
import { cutOff, unreadBytes } from './engine.ts';
import { createUploadRouter } from './door-uploads.ts';
import { type SigningKey, VisitorTokens } from './visitor-token.ts';
import { Visitors } from './visitors.ts';

export interface ChatServerOptions {
  readonly shops: readonly ChatShop[];
  /** The first one signs. */
  readonly signingKeys: readonly SigningKey[];
  /** Sockets of everyone together; more are `busy`. */
  readonly maxSockets?: number;
}

export interface ChatServerParts {
  readonly store: ChatStore;
  readonly blobs: BlobStore;
  readonly intake: Pick<Intake, 'acceptChat'>;
  readonly presence: Presence;
  /** The client's address, proxies considered. */
  readonly clientIp: (request: IncomingMessage) => string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface SettledMessage {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  /** The client's message id. */
  readonly messageId: string;
  readonly state: 'delivered' | 'failed';
}

export interface ChatServer {
  /**
   * Serves sockets under `/chat/` on this server. Call it after the server has its own `request`
   * listener (the express app): that one keeps everything else, `/chat/uploads` included.
   */
  attach(httpServer: HttpServer): void;
  /** `POST /chat/uploads` */
  readonly router: Router;
  /** What became of a visitor's message: into the journal, and as a tick to every open tab. */
  messageSettled(message: SettledMessage): Promise<void>;
  /** A line that was just stored (a reply): to every open tab. */
  publish(shopId: ShopId, visitorId: VisitorId, line: JournalLine): void;
  /**
   * The shops from now on. Tabs of a shop that is not among them are closed, and told when they
   * come back that it is unknown; all others stay.
   */
  serve(shops: readonly ChatShop[]): void;
  /** Refuses what is new, lets acknowledgements that are due go out, and closes every socket. */
  stop(): Promise<void>;
}

const MAX_SOCKETS = 20_000;
const MAX_BUFFER_BYTES = 128 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** At a stop, for clients to say goodbye. */
const HANG_UP_MS = 1_000;
/** Until others have left a full gateway. */
const RETRY_FULL_SECONDS = 30;
/** A connection that keeps failing its handshake is guessing. */
const MAX_FAILED_HANDSHAKES = 3;
/** How often it is looked whether clients read what they are sent. */
const LOOK_AT_UNREAD_MS = 1_000;
/** Packets in ten seconds besides messages: other calls, refusals, heartbeats and handshakes. */
const OTHER_PACKETS = 200;

/** The chat channel's server side; `attach` begins it. */
export function createChatServer(options: ChatServerOptions, parts: ChatServerParts): ChatServer {
  const { store, presence, clock, logger, metrics } = parts;
  const maxSockets = options.maxSockets ?? MAX_SOCKETS;
  // Beyond the bound there is some room to say so: a request that is refused shows no browser why.
  const mostConnections = Math.ceil(maxSockets * 1.1);
  const tokens = new VisitorTokens(options.signingKeys, clock);
  const origins = new Origins(options.shops);
  const connections = new Connections();
  const inFlight = new InFlight();
  const limits = new ShopLimits(options.shops);
  const limitsOf = (shop: ChatShop): ChatLimits => limits.of(shop);
  const visitors = new Visitors({ store, clock, limits: limitsOf });
  const shops = new Map(options.shops.map((shop) => [shop.key, shop]));
  const recognition = new Recognition({ store, visitors, clock, logger });
  const handshake = new Handshake({ shops, tokens, recognition, clock, limits: limitsOf });
  const networkOf = (request: IncomingMessage): string => ipNetwork(parts.clientIp(request));
  // Connections that never say who they want must not crowd out those that do.
  let maxPerNetwork = mostPerNetwork(options.shops);
  let maxPackets = mostPackets(options.shops);
  const waits = new ReconnectWaits();
  const open = new Set<ChatSocket['conn']>();
  const visitorOf = new WeakMap<ChatSocket['conn'], string>();

  const end = (connection: ChatSocket['conn'], reason: 'flood' | 'unread'): void => {
    if (connection.readyState !== 'open') return;
    const visitor = visitorOf.get(connection);
    for (const key of [connections.peerOf(connection)?.network, visitor]) {
      if (key !== undefined) waits.cutOff(key, clock());
    }
    metrics.refused.inc({ channel: 'web_chat', reason });
    logger.warn('chat.cut_off', { reason, visitor });
    cutOff(connection);
  };

  const io = createServer({
    admits: (origin) => origins.someAdmits(origin),
    refusalOf: (request) => {
      if (inFlight.closed || io.engine.clientsCount >= mostConnections) return 'busy';
      if (!origins.someAdmits(request.headers.origin)) return 'origin';
      if (waits.isTooEager(networkOf(request), clock())) return 'rate_limited';
      return connections.countOf(networkOf(request)) >= maxPerNetwork ? 'rate_limited' : undefined;
    },
  });

  const admit = async (socket: ChatSocket): Promise<void> => {
    const peer = connections.peerOf(socket.conn);
    if (inFlight.closed || peer === undefined) throw new HandshakeRefused('busy');
    if (io.engine.clientsCount > maxSockets) {
      throw new HandshakeRefused('busy', { retryAfter: RETRY_FULL_SECONDS });
    }
    const admission = await handshake.admit(socket.handshake.auth, peer);
    // An office shares an address: who has written before waits for their own conduct alone.
    const keys = [keyOf(admission), ...(admission.record === undefined ? [peer.network] : [])];
    for (const key of keys) {
      const retryAfter = waits.retryAfter(key, clock());
      if (retryAfter !== undefined) throw new HandshakeRefused('rate_limited', { retryAfter });
    }
    socket.data.admission = admission;
    // It held the tokens; nothing needs them any more.
    socket.handshake.auth = {};
  };

  const refuse = (socket: ChatSocket, error: unknown): HandshakeRefused => {
    if (!(error instanceof HandshakeRefused)) {
      logger.error('chat.handshake_failed', errorFields(error));
    }
    const refused = error instanceof HandshakeRefused ? error : new HandshakeRefused('busy');
    metrics.refused.inc({ channel: 'web_chat', reason: refused.data.code });
    logger.debug('chat.refused', { code: refused.data.code });
    if (connections.failed(socket.conn) >= MAX_FAILED_HANDSHAKES) {
      setImmediate(() => socket.conn.close());
    }
    return refused;
  };

  io.use((socket, next) => {
    if (!connections.take(socket.conn)) {
      next(refuse(socket, new HandshakeRefused('busy')));
      return;
    }
    inFlight.begin();
    admit(socket)
      .then(
        () => next(),
        (error: unknown) => {
          connections.free(socket.conn);
          next(refuse(socket, error));
        },
      )
      .finally(() => inFlight.end());
  });

  /** Another tab has said who this guest is while this one was being let in. */
  const isLate = ({ shop, visitorId, record }: Admission): boolean =>
    record?.subject === undefined && recognition.isSuperseded(shop, visitorId);

  const sessionParts = {
    ...{ store, intake: parts.intake, visitors, presence, tokens, limits: limitsOf },
    ...{ inFlight, clock, logger, metrics },
    onRefused: (connection: ChatSocket['conn']) => {
      if (connections.conductOf(connection)?.refused(clock()) === true) end(connection, 'flood');
    },
  };
  io.on('connection', (socket) => {
    const { admission } = socket.data;
    // The middleware lets nobody in without one.
    if (admission === undefined || inFlight.closed || isLate(admission)) {
      socket.conn.close();
      return;
    }
    delete socket.data.admission;
    visitorOf.set(socket.conn, keyOf(admission));
    metrics.chatSockets.inc();
    socket.on('disconnect', () => {
      metrics.chatSockets.dec();
      connections.free(socket.conn);
    });
    new ChatSession(socket, admission, sessionParts);
  });

  const uploads = createUploadRouter({
    ...{ store, blobs: parts.blobs, visitors, tokens, clock, logger, metrics },
    ...{ limits: limitsOf, shops, origins, networkOf },
  });

  // One function for all of them: there are many thousands.
  function onPacket(this: ChatSocket['conn'], { type }: { readonly type: string }): void {
    // engine.io looks at it in long polling alone (engine.io protocol v4, "close").
    if (type === 'close') this.close();
    if (connections.conductOf(this)?.sent(clock(), maxPackets) === true) end(this, 'flood');
  }

  const lookAtUnread = setInterval(() => {
    const now = clock();
    for (const connection of open) {
      const conduct = connections.conductOf(connection);
      if (conduct?.leftUnread(unreadBytes(connection), now) === true) end(connection, 'unread');
    }
  }, LOOK_AT_UNREAD_MS).unref();

  let attached = false;
  return {
    attach: (httpServer) => {
      attached = true;
      attachBeside(io, httpServer);
      // socket.io types its engine as an event emitter of anything.
      io.engine.on('connection', (connection: ChatSocket['conn']) => {
        connections.open(connection, connection.request, networkOf(connection.request));
        open.add(connection);
        connection.on('packet', onPacket);
        connection.once('close', () => {
          open.delete(connection);
          connections.close(connection);
        });
        // The first request would stay in memory for as long as the socket (1 to 2 kB each).
        Reflect.set(connection, 'request', null);
      });
    },
    router: uploads.router,
    messageSettled: async ({ shopId, visitorId, messageId, state }) => {
      // Another visitor's, when the one who wrote it has joined him since.
      const owner = (await store.markMessage(shopId, visitorId, messageId, state)) ?? visitorId;
      presence.active(shopId, owner, clock());
      for (const tab of visitors.find(shopId, owner)?.tabs ?? []) {
        tab.status({ id: messageId, state });
      }
    },
    publish: (shopId, visitorId, line) => {
      if (line.from === 'agent') presence.answered(shopId, visitorId, clock());
      const event = toEvent(line);
      for (const tab of visitors.find(shopId, visitorId)?.tabs ?? []) tab.offer(event);
    },
    serve: (next) => {
      const gone = new Set([...shops.values()].map(({ shopId }) => shopId));
      shops.clear();
      for (const shop of next) {
        shops.set(shop.key, shop);
        gone.delete(shop.shopId);
      }
      origins.serve(next);
      limits.serve(next);
      maxPerNetwork = mostPerNetwork(next);
      maxPackets = mostPackets(next);
      for (const shopId of gone) visitors.closeShop(shopId);
    },
    stop: async () => {
      clearInterval(lookAtUnread);
      await Promise.all([inFlight.close(), uploads.stop()]);
      // The connections, not the sockets: clients come back by themselves from a lost connection,
      // and stay away when the server has disconnected them. Not io.close(): the HTTP server is
      // not ours to close.
      if (attached) await hangUp(io.engine, HANG_UP_MS);
    },
  };
}

const mostPerNetwork = (shops: readonly ChatShop[]): number =>
  2 * Math.max(...shops.map((shop) => shop.limits.socketsPerIp), 1);

const mostPackets = (shops: readonly ChatShop[]): number =>
  OTHER_PACKETS + Math.max(...shops.map((shop) => shop.limits.messagesPer10s), 0);

/** What a visitor is known by who was cut off. */
const keyOf = ({ shop, visitorId }: Admission): string => `${shop.shopId}/${visitorId}`;

interface Gate {
  readonly admits: (origin: string | undefined) => boolean;
  readonly refusalOf: (request: IncomingMessage) => string | undefined;
}

function createServer(gate: Gate) {
  return new Server<
    Record<string, (...args: unknown[]) => void>,
    ServerToClientEvents,
    Record<string, never>,
    SocketData
  >({
    path: CHAT_PATH,
    serveClient: false,
    transports: ['websocket', 'polling'],
    maxHttpBufferSize: MAX_BUFFER_BYTES,
    connectTimeout: CONNECT_TIMEOUT_MS,
    perMessageDeflate: false,
    httpCompression: false,
    // `cors` covers polling only: a browser opens a WebSocket to anyone who answers.
    cors: { origin: (origin, answer) => answer(null, gate.admits(origin)) },
    allowRequest: (request, answer) => {
      const refusal = gate.refusalOf(request);
      answer(refusal, refusal === undefined);
    },
  });
}

/**
 * Attaches socket.io so that it takes `/chat/` alone. By itself engine.io takes every path that
 * begins so, and would answer `/chat/uploads` in the application's place.
 */
function attachBeside(io: ReturnType<typeof createServer>, httpServer: HttpServer): void {
  const others = httpServer.listeners('request');
  io.attach(httpServer);
  const engine = httpServer.listeners('request');
  httpServer.removeAllListeners('request');
  httpServer.on('request', (request, response) => {
    const path = request.url?.split('?', 1)[0];
    for (const listener of path === `${CHAT_PATH}/` ? engine : others) {
      listener.call(httpServer, request, response);
    }
  });
}
