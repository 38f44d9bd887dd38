import type { IncomingMessage } from 'node:http';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet from 'helmet';
import proxyAddr from 'proxy-addr';
import type { Health } from '../observability/health.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Current } from '../runtime/current.ts';

export interface PublicHttpParts {
  readonly routers: readonly RequestHandler[];
  readonly health: Health;
  readonly logger: Logger;
}

/** What the world may ask: webhooks, uploads, health. Nothing of the operator's is here. */
export function createPublicApp({ routers, health, logger }: PublicHttpParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.get('/healthz', health.healthz);
  app.get('/readyz', health.readyz);
  for (const router of routers) app.use(router);
  app.use(helmet());
  app.use((_req: Request, res: Response) => {
    res.status(404).type('text/plain').end('Not found\n');
  });
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

/** A route that is replaced with the configuration: a request ends where it began. */
export const through =
  (current: Current<RequestHandler>): RequestHandler =>
  (request, response, next) =>
    current.value(request, response, next);

/** The address of the client, as far as the configured proxies are to be believed. */
export function clientIpOf(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return (request) => request.socket.remoteAddress ?? '';
  const trust = proxyAddr.compile([...trustProxy]);
  return (request) => proxyAddr(request, trust);
}
