import type { IncomingMessage, RequestListener } from 'node:http';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet from 'helmet';
import proxyAddr from 'proxy-addr';
import type { Readiness } from '../observability/readiness.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Current } from '../runtime/current.ts';
import { clientAddress, createNetworks } from '../runtime/ip-addresses.ts';
import { createHttpListener, type HttpListener } from '../runtime/http-listener.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { LiveConfig } from './live-config.ts';
import { atWork } from '../runtime/main-thread.ts';

export interface PublicHttpParts {
  readonly routers: readonly RequestHandler[];
  readonly readiness: Readiness;
  readonly logger: Logger;
}

/**
 * The routes of the public port: the SMS webhook, email over HTTP, chat uploads, the widget, the demo
 * and health. It has no routes for operators.
 */
export function createPublicApp({ routers, readiness, logger }: PublicHttpParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.get('/healthz', readiness.healthz);
  app.get('/readyz', readiness.readyz);
  for (const router of routers) app.use(router);
  app.use(helmet());
  app.use((_req: Request, res: Response) => res.status(404).type('text/plain').end('Not found\n'));
  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    if (error instanceof URIError && !res.headersSent) {
      res.status(400).type('text/plain').end('The path is not valid\n');
      return;
    }
    logger.warn('http.failed', errorFields(error));
    if (res.headersSent) next(error);
    else res.status(500).type('text/plain').end('Internal error\n');
  });
  return app;
}

/** A route that a reload may replace; a request in progress finishes on the old one. */
export const replaceableRoute =
  (current: Current<RequestHandler>): RequestHandler =>
  (request, response, next) =>
    current.value(request, response, next);

/**
 * The client's address, from X-Forwarded-For where the proxies are trusted. A mapped IPv4 address is
 * returned as the IPv4 address.
 */
export function clientIpOf(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) {
    return (request) => clientAddress(request.socket.remoteAddress ?? '');
  }
  const trust = proxyAddr.compile([...trustProxy]);
  return (request) => clientAddress(proxyAddr(request, trust));
}

/**
 * Cut-offs are logged together, so that a client that causes thousands of them cannot fill the
 * disk.
 */
const LOG_EVERY_MS = 10_000;

interface DoorParts {
  readonly live: LiveConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A listener with the configured limits. Its cut-offs are counted and logged. */
export function createHttpDoor(
  door: 'public' | 'console',
  onRequest: RequestListener,
  { live, logger, metrics }: DoorParts,
): HttpListener {
  const { maxConnections, maxConnectionsPerIp } = live.value.http;
  const trusted = live.derive(`${door} proxies`, ['http.trustProxy'], ({ http }) =>
    createNetworks(http.trustProxy),
  );
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    timer = undefined;
    logger.warn('http.cut_off', { door, ...Object.fromEntries(counts) });
    counts.clear();
  };
  const atRequest: RequestListener = (request, response) => {
    atWork(door === 'console' ? 'console' : request.url?.startsWith('/sms/') ? 'texts' : 'http');
    onRequest(request, response);
  };
  return createHttpListener(atRequest, {
    ...{ maxConnections, maxConnectionsPerIp },
    trusted: { has: (address) => trusted.value.has(address) },
    onOpen: (connections) => metrics.httpConnections.set({ door }, connections),
    onNoIpv6: () => logger.warn('listen.no_ipv6', { door }),
    onCutOff: (reason) => {
      metrics.httpCutOff.inc({ door, reason });
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      timer ??= setTimeout(tell, LOG_EVERY_MS).unref();
    },
  });
}
