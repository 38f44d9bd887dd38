import type { NextFunction, Request, Response } from 'express';

/** Answers with JSON. Uses `end`, because Express's `send` also computes an ETag. */
export function sendJson(
  response: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const fault: unknown = response.locals['fault'];
  if (fault === 'reset-after-commit') response.socket?.resetAndDestroy();
  else if (fault === 'empty' && status < 300) sendRaw(response, 201, '');
  else {
    sendRaw(response, status, JSON.stringify(body), {
      'Content-Type': 'application/json; charset=utf-8',
      ...headers,
    });
  }
}

export function sendRaw(
  response: Response,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // The client has disconnected, or an answer has begun.
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(text);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}

/**
 * Injected faults, for tests and benchmarks of clients:
 *
 * | kind | effect |
 * | --- | --- |
 * | `status` | answers with this status; the request is not handled |
 * | `reset` | resets the connection; the request is not handled |
 * | `reset-after-commit` | handles the request, then resets the connection |
 * | `html` | answers 200 with a maintenance page; the request is not handled |
 * | `hang` | never answers |
 * | `empty` | handles the request, and answers 201 without a body |
 */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | { readonly kind: 'reset' | 'reset-after-commit' | 'html' | 'hang' | 'empty' };

export type Faults = (request: {
  readonly method: string;
  readonly path: string;
}) => Fault | undefined;

const MAINTENANCE = '<!doctype html><title>Back soon</title><h1>We are working on it</h1>';

/** Applies faults; those of handled requests are passed to `sendJson` in `response.locals`. */
export function faultMiddleware(faults: Faults) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const fault = faults({ method: request.method, path: request.path });
    switch (fault?.kind) {
      case undefined:
        next();
        return;
      case 'reset-after-commit':
      case 'empty':
        response.locals['fault'] = fault.kind;
        next();
        return;
      case 'status':
        request.resume();
        sendRaw(response, fault.status, fault.body ?? '', fault.headers);
        return;
      case 'html':
        request.resume();
        sendRaw(response, 200, MAINTENANCE, { 'Content-Type': 'text/html' });
        return;
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'hang':
        request.resume();
        return;
    }
  };
}
