import express, { type ErrorRequestHandler, type Express } from 'express';
import { errorFields, type Logger } from '../observability/logger.ts';
import { ApiError, type ApiStatus, systemCode } from './api-error.ts';
import { authenticate, limitRate, type Shop } from './authenticate.ts';
import { type Faults, faultMiddleware } from './faults.ts';
import { sendJson } from './respond.ts';
import { contactRoutes, conversationRoutes } from './routes/contacts.ts';
import type { RouteContext } from './routes/context.ts';
import { eventRoutes } from './routes/events.ts';
import { mediaFileRoutes, mediaRoutes } from './routes/media.ts';
import { messageRoutes } from './routes/messages.ts';
import { ticketRoutes } from './routes/tickets.ts';

export interface AppOptions {
  readonly shops: readonly Shop[];
  readonly uploadMaxBytes: number;
  readonly requestsPerSecond?: number;
  readonly faults?: Faults;
}

/** The platform's routes (API §4) and the downloads of uploaded files. */
export function createApp(context: RouteContext, options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  if (options.faults) app.use(faultMiddleware(options.faults));

  const routing = { strict: true, caseSensitive: true };
  const api = express.Router(routing);
  api.use(authenticate(options.shops));
  if (options.requestsPerSecond !== undefined) api.use(limitRate(options.requestsPerSecond));
  eventRoutes(api, context);
  ticketRoutes(api, context);
  messageRoutes(api, context);
  mediaRoutes(api, context, options.uploadMaxBytes);
  conversationRoutes(api, context);
  contactRoutes(api, context);
  app.use('/v2026-04', api);

  const files = express.Router(routing);
  mediaFileRoutes(files, context);
  app.use(files);

  app.use(() => {
    throw new ApiError(404, 'there is nothing here; paths end with a slash');
  });
  app.use(answerErrors(context.logger));
  return app;
}

/** The one place where anything thrown becomes an answer. Express knows it by its four parameters. */
function answerErrors(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const answer = toApiError(error);
    if (answer.status >= 500) {
      logger.error('platform.failed', { path: request.path, ...errorFields(error) });
    }
    // Express's own handler cuts the connection of an answer that has begun.
    if (response.headersSent) next(error);
    else sendJson(response, answer.status, answer.body, answer.headers);
  };
}

const FROM_PARSER: Readonly<Record<number, [ApiStatus, string]>> = {
  400: [400, 'the body could not be read'],
  413: [413, 'the body is too large'],
  415: [415, 'the charset or encoding of the body is not supported'],
};

/** Errors of express and its body parser carry the `status` that they stand for. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const status = error instanceof Error && 'status' in error ? Number(error.status) : undefined;
  if (status === undefined && systemCode(error) !== undefined) {
    return new ApiError(503, 'the store cannot write now', {}, { 'Retry-After': '5' });
  }
  const [known, message] = FROM_PARSER[status ?? 500] ?? [500, 'something went wrong here'];
  return new ApiError(known, message);
}
