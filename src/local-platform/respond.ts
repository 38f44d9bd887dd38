import type { NextFunction, Request, Response } from 'express';

/** Answers with JSON. Written with `end`: `send` costs a hash and a content negotiation more. */
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
  // A client that has gone, or an answer that is under way, leaves nothing to say.
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(text);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}

/**
 * Misbehaviour on demand, for tests and benchmarks of clients:
 *
 * | kind | what the client sees |
 * | --- | --- |
 * | `status` | this status, nothing handled |
 * | `reset` | a reset connection, nothing handled |
 * | `reset-after-commit` | a reset connection, and yet the request was handled |
 * | `html` | 200 with a maintenance page, nothing handled |
 * | `hang` | nothing, for as long as the platform runs |
 * | `empty` | handled, and 201 without a body |
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

/** What a fault decided about a request that is handled nevertheless; read by `respond.ts`. */
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
