import express, { type RequestHandler, type Router } from 'express';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { DECISIONS } from '../decisions.ts';

const METHODS = ['get', 'post'] as const;

/** Adds one path with its handlers; any other method is 405 with `Allow` (RFC 9110 §15.5.6). */
export function resource(
  router: Router,
  path: string,
  handlers: { readonly get?: RequestHandler; readonly post?: readonly RequestHandler[] },
): void {
  const route = router.route(path);
  if (handlers.get) route.get(handlers.get);
  if (handlers.post) route.post(...handlers.post);
  const allow = METHODS.filter((method) => handlers[method]).map((method) => method.toUpperCase());
  route.all((request) => {
    throw new ApiError(
      405,
      `${request.method} is not possible here`,
      {},
      {
        Allow: allow.join(', '),
      },
    );
  });
}

const parseJson = express.json({ limit: DECISIONS.jsonMaxBytes, type: 'application/json' });

/** Reads a JSON body; 415 for any other kind, 413 over the limit, 400 when it is no JSON. */
export const jsonBody: readonly RequestHandler[] = [
  (request, _response, next) => {
    if (request.is('application/json') !== 'application/json') {
      throw new ApiError(415, 'a body of type application/json is expected');
    }
    next();
  },
  parseJson,
];

/** The id in the path; what is no uuid names nothing. */
export function pathId(value: unknown): string {
  const id = z.guid().safeParse(value);
  if (!id.success) throw notFound();
  return id.data.toLowerCase();
}

export const notFound = () => new ApiError(404, 'there is no such resource');

/** The row, or 404. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}
