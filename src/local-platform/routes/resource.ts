import type { RequestHandler, Router } from 'express';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';

/** Adds one path with its handlers; any other method is 405 with `Allow` (RFC 9110 §15.5.6). */
export function resource(
  router: Router,
  path: string,
  handlers: { readonly get?: RequestHandler; readonly post?: readonly RequestHandler[] },
): void {
  const route = router.route(path);
  // Express answers HEAD with what GET would have said.
  if (handlers.get) route.get(handlers.get);
  if (handlers.post) route.post(...handlers.post);
  const allow = [...(handlers.get ? ['GET', 'HEAD'] : []), ...(handlers.post ? ['POST'] : [])];
  route.all((request) => {
    const possible = allow.join(', ');
    throw new ApiError(
      405,
      `${request.method} is not possible here, only ${possible}`,
      {},
      { Allow: possible },
    );
  });
}

/** The id in the path; what is no uuid names nothing. */
export function pathId(value: unknown): string {
  const id = z.guid().safeParse(value);
  if (!id.success) throw notFound();
  return id.data.toLowerCase();
}

export const notFound = () => new ApiError(404, 'there is no such resource in this shop');

/** The row, or 404. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}
