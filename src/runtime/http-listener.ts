import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type CutOff, type HttpBounds, HttpConnections } from './http-connections.ts';
import { type FinalAnswer, FinalAnswers } from './final-answer.ts';
import { everyInStep } from './clock.ts';
import type { Networks } from './ip-addresses.ts';
import { listenOn } from './listen.ts';

const SECOND = 1000;

export interface HttpListenerOptions extends HttpBounds {
  /** Reverse proxies, which carry the connections of many clients. */
  readonly trusted: Networks;
  readonly maxHeaderBytes: number;
  /** How often slow clients are checked for. */
  readonly checkEveryMs: number;
  /** The response to a client that is refused before its request is complete. */
  readonly finalAnswer: (status: RefusedStatus) => Pick<FinalAnswer, 'type' | 'body'>;
  readonly onCutOff: (why: CutOff) => void;
  readonly onOpen: (connections: number) => void;
  /** It was to listen on all addresses of a machine that has no IPv6. */
  readonly onNoIpv6: () => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** The limits of `config/default.yaml`, without trusted proxies. */
export const HTTP_LISTENER_DEFAULTS: HttpListenerOptions = {
  maxConnections: 4000,
  maxConnectionsPerIp: 200,
  headersMs: 15 * SECOND,
  keepAliveMs: 65 * SECOND,
  // An upload of 25 MiB over a poor connection may take most of an hour, but it must keep moving.
  bodyPace: { minBytesPerSecond: 500, windowMs: 15 * SECOND, totalMs: 3600 * SECOND },
  drainMs: 10 * SECOND,
  unreadMs: 120 * SECOND,
  displaceAfterMs: 5 * SECOND,
  trusted: { has: () => false },
  maxHeaderBytes: 16 * 1024,
  checkEveryMs: SECOND,
  finalAnswer: (status) => ({ type: 'text/plain; charset=utf-8', body: `${REASONS[status]}\n` }),
  onCutOff: () => undefined,
  onOpen: () => undefined,
  onNoIpv6: () => undefined,
  now: () => performance.now(),
};

const REASONS = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
} as const;
export type RefusedStatus = keyof typeof REASONS;
/** Statuses for the errors of Node's parser; any other error is a 400. */
const UNREADABLE: Readonly<Record<string, RefusedStatus>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};
const RETRY_AFTER_SECONDS = 10;

export interface HttpListener {
  readonly server: Server;
  listen(host: string, port: number): Promise<number>;
  /** From now on, each response ends its connection: the client's next request goes to another server. */
  endKeepAlive(): void;
  /**
   * Accepts no new connections. Requests in flight get `graceMs`; idle connections are closed at
   * once.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * An HTTP server that limits slow clients and the number of connections. A slow client gets 408
 * (RFC 9110 §15.5.9), and a client without a free connection gets 503 with Retry-After. Either
 * connection is closed a moment later even if the client does not close it; otherwise the client
 * could keep it open.
 */
export function createHttpListener(
  onRequest: RequestListener,
  change: Partial<HttpListenerOptions> = {},
): HttpListener {
  const options = { ...HTTP_LISTENER_DEFAULTS, ...change };
  const finalAnswers = new FinalAnswers();
  const refuse = (socket: Socket, status: RefusedStatus): void =>
    finalAnswers.send(socket, {
      ...{ status, reason: REASONS[status], ...options.finalAnswer(status) },
      ...(status === 503 && { retryAfterSeconds: RETRY_AFTER_SECONDS }),
    });
  const connections = new HttpConnections(options, options.trusted, (socket, why, mayAnswer) => {
    options.onCutOff(why);
    options.onOpen(connections.open);
    if (!mayAnswer) socket.destroy();
    else if (why === 'displaced') refuse(socket, 503);
    else refuse(socket, 408);
  });
  const server = createServer(
    {
      headersTimeout: options.headersMs,
      // A fixed time for every request does not suit uploads; `bodyPace` limits bodies instead.
      requestTimeout: 0,
      keepAliveTimeout: options.keepAliveMs,
      // Of headers only. It cannot run in step with ours, so it runs less often.
      connectionsCheckingInterval: 5 * options.checkEveryMs,
      maxHeaderSize: options.maxHeaderBytes,
    },
    onRequest,
  );
  admitBeforeParsing(server, (socket) => {
    const isAdmitted = connections.admit(socket, options.now());
    options.onOpen(connections.open);
    if (isAdmitted) {
      socket.once('close', () => options.onOpen(connections.open));
      return true;
    }
    options.onCutOff('too_many_connections');
    refuse(socket, 503);
    return false;
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    // An HTTP server without TLS has TCP sockets.
    const socket = stream as Socket;
    const status = UNREADABLE[error.code ?? ''] ?? 400;
    const mayAnswer = error.code !== 'ECONNRESET' && connections.mayAnswer(socket);
    // Already cut off, with its response on the way: Node's own timer has expired as well.
    if (!connections.forget(socket)) return;
    if (status === 408) options.onCutOff('slow_headers');
    options.onOpen(connections.open);
    if (mayAnswer) refuse(socket, status);
    else socket.destroy();
  });
  let endChecks = (): void => undefined;
  return {
    server,
    listen: async (host, port) => {
      watch(server, connections, options);
      const bound = await listenOn(server, { host, port, onNoIpv6: options.onNoIpv6 });
      endChecks = everyInStep(options.checkEveryMs, () => connections.endStalled(options.now()));
      // Later errors (EMFILE on accept) are temporary; each connection has its own limits.
      server.on('error', () => undefined);
      return bound;
    },
    endKeepAlive: () => {
      server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) =>
        response.setHeader('connection', 'close'),
      );
    },
    stop: async (graceMs) => {
      if (!server.listening) return;
      await closeWithin(graceMs, server, finalAnswers);
      endChecks();
    },
  };
}

async function closeWithin(
  graceMs: number,
  server: Server,
  finalAnswers: FinalAnswers,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  finalAnswers.endAll();
  const cut = setTimeout(() => {
    server.closeAllConnections();
    finalAnswers.endAll();
  }, graceMs);
  await closed;
  clearTimeout(cut);
}

/** Node's own listener creates a parser per connection; a refused connection does not need one. */
function admitBeforeParsing(server: Server, admits: (socket: Socket) => boolean): void {
  const serve = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!admits(socket)) return;
    for (const listener of serve) listener.call(server, socket);
  });
}

/**
 * Called last and prepended to all other listeners: socket.io calls only its own listeners for its
 * paths. The upgrade listener is added only where upgrades are handled; otherwise such a request
 * would get no response.
 */
function watch(
  server: Server,
  connections: HttpConnections,
  { onOpen, now }: Pick<HttpListenerOptions, 'onOpen' | 'now'>,
): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    connections.requestBegan(request, response, now()),
  );
  if (server.listenerCount('upgrade') === 0) return;
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    connections.forget(socket);
    onOpen(connections.open);
  });
}
