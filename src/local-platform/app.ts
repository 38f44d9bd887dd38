import type { RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { errorFields, type Logger } from '../observability/logger.ts';
import {
  createHttpListener,
  type HttpListener,
  type RefusedStatus,
} from '../runtime/http-listener.ts';
import { ApiError, isSystemOrSqliteError } from './api-error.ts';
import { LIMITS } from './open-points.ts';
import { authenticate, limitRate, type ShopOfKey } from './authenticate.ts';
import { faultMiddleware, type Faults, sendJson } from './respond.ts';
import { referenceRoutes } from './reference/routes.ts';
import {
  contactRoutes,
  conversationRoutes,
  eventRoutes,
  messageRoutes,
  ticketRoutes,
} from './routes/api.ts';
import type { RouteContext } from './routes/resource.ts';
import { mediaFileRoutes, mediaRoutes } from './routes/media.ts';
import { parserError } from './routes/input.ts';
import { atWork } from '../runtime/main-thread.ts';

export interface AppOptions {
  readonly uploadMaxBytes?: number;
  /** Per shop. Default: no limit. */
  readonly requestsPerSecond?: number;
  /** Injected faults, for tests and benchmarks. */
  readonly faults?: Faults;
}

/** The API's routes (API §4), the reference pages, and the downloads of uploaded files. */
export function createApp(
  context: RouteContext,
  shopOfKey: ShopOfKey,
  { uploadMaxBytes = LIMITS.uploadMaxBytes, requestsPerSecond, faults }: AppOptions,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  app.use((_request, _response, next) => {
    atWork('platform');
    next();
  });
  if (faults) app.use(faultMiddleware(faults));

  const routing = { strict: true, caseSensitive: true };
  const open = express.Router(routing);
  referenceRoutes(open, context.baseUrl);
  app.use(open);

  const api = express.Router(routing);
  api.use(authenticate(shopOfKey));
  if (requestsPerSecond !== undefined) api.use(limitRate(requestsPerSecond));
  eventRoutes(api, context);
  ticketRoutes(api, context);
  messageRoutes(api, context);
  mediaRoutes(api, context, uploadMaxBytes);
  conversationRoutes(api, context);
  contactRoutes(api, context);
  app.use('/v2026-04', api);

  const files = express.Router(routing);
  mediaFileRoutes(files, context);
  app.use(files);

  app.use((request) => {
    throw nothingHere(request.path);
  });
  app.use(answerErrors(context.logger));
  return app;
}

/** Turns every thrown error into an answer. Express requires the four parameters. */
function answerErrors(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const answer = toApiError(error);
    if (answer.status >= 500) {
      logger.error('platform.failed', { path: request.path, ...errorFields(error) });
    }
    // Express's own handler closes the connection when the answer has begun.
    if (response.headersSent) next(error);
    else sendJson(response, answer.status, answer.body, answer.headers);
  };
}

function toApiError(error: unknown): ApiError {
  const known = error instanceof ApiError ? error : parserError(error);
  if (known !== undefined) return known;
  if (isBadPath(error)) return new ApiError(400, 'the path is not percent-encoded UTF-8');
  if (isSystemOrSqliteError(error)) {
    return new ApiError(503, 'the store cannot write now', {}, { 'Retry-After': '5' });
  }
  return new ApiError(500, 'something went wrong here');
}

/** Express's error for a path parameter that it cannot decode. */
const isBadPath = (error: unknown) =>
  error instanceof URIError && 'status' in error && error.status === 400;

function nothingHere(path: string): ApiError {
  if (path.endsWith('/')) return new ApiError(404, 'there is nothing at this path');
  return new ApiError(404, `there is nothing at this path; they end with a slash: ${path}/`);
}

const UNREADABLE: Readonly<Record<RefusedStatus, readonly [code: string, message: string]>> = {
  400: ['invalid', 'the request is not HTTP'],
  408: ['invalid', 'the request did not arrive in time'],
  413: ['too_large', 'the chunk extensions of the body are too large'],
  431: ['too_large', 'the headers and the query are larger than 64 KiB'],
  503: ['unavailable', 'too many connections are open'],
};

/**
 * The platform's HTTP server. A request that cannot be parsed (most often a query that is too long,
 * such as a filter with a thousand ids) is answered with the same error body as any other. Clients
 * have no limits of their own, because all of them, the gateway included, are on this machine.
 */
export function createPlatformListener(app: RequestListener): HttpListener {
  return createHttpListener(app, {
    maxHeaderBytes: LIMITS.headersMaxBytes,
    trusted: { has: () => true },
    finalAnswer: (status) => {
      const [code, message] = UNREADABLE[status];
      return {
        type: 'application/json; charset=utf-8',
        body: JSON.stringify({ error: { code, message, fields: {} } }),
      };
    },
  });
}
