import type { NextFunction, Request, Response } from 'express';
import { sendRaw } from './respond.ts';

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
