import type { Request, RequestHandler, Router } from 'express';
import { z } from 'zod';
import type { Logger } from '../../observability/logger.ts';
import type { MediaFolder } from '../store/media.ts';
import type { Store } from '../store/store.ts';
import { ApiError } from '../api-error.ts';
import type { Page } from '../../platform-api/resources.ts';
import type { Slice } from '../store/listing.ts';

/** What the routes work with. */
export interface RouteContext {
  readonly store: Store;
  readonly media: MediaFolder;
  readonly logger: Logger;
  readonly now: () => number;
  /** `http://host:port`, for links in answers. */
  readonly baseUrl: () => string;
  /** Whether an agent will look at new messages. */
  readonly agentListens: (shop: string) => boolean;
  /** Called once a customer's message is on disk. */
  readonly onMessage: (conversationId: string) => void;
}

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

/**
 * The page envelope (API §2.6). The links repeat the request's own filters, and are made from the
 * platform's address, not from the Host header.
 */
export function toPage<Row, Resource>(
  baseUrl: string,
  request: Request,
  slice: Slice<Row>,
  toResource: (row: Row) => Resource,
): Page<Resource> {
  const link = (cursor: string | undefined) => {
    if (cursor === undefined) return null;
    const { pathname, search } = new URL(request.originalUrl, baseUrl);
    // The target of a request may name another origin (RFC 9112 §3.2.2).
    const url = new URL(pathname + search, baseUrl);
    url.searchParams.set('cursor', cursor);
    return url.href;
  };
  return {
    results: slice.rows.map(toResource),
    next: link(slice.next),
    previous: link(slice.previous),
  };
}
