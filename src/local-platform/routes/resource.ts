import type { Request, RequestHandler, Router } from 'express';
import { z } from 'zod';
import type { Logger } from '../../observability/logger.ts';
import type { MediaFolder } from '../store/media.ts';
import type { ContactRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { ReplyFates } from '../outbound/reply-fates.ts';
import type { MessageRow } from '../store/rows.ts';
import { ApiError } from '../api-error.ts';
import type { Page } from '../../platform-api/resources.ts';
import type { Slice } from '../store/listing.ts';

/** The dependencies of the routes. */
export interface RouteContext {
  readonly store: Store;
  readonly media: MediaFolder;
  readonly logger: Logger;
  readonly now: () => number;
  /** `http://host:port`, for links in answers. */
  readonly baseUrl: () => string;
  /** Whether an agent answers in the shop. */
  readonly agentListens: (shop: string) => boolean;
  /** The other conversations of the person of one; undefined if the gateway knows no person of it. */
  readonly samePerson: (
    shop: string,
    conversationId: string,
  ) => Promise<readonly string[] | undefined>;
  readonly fates: Pick<ReplyFates, 'bounced'>;
  /** Called once a reply that has come back is FAILED. */
  readonly onBounced: (reply: MessageRow) => void;
  /** Called once a customer's message is durable. */
  readonly onMessage: (conversationId: string) => void;
  /** Called once an event of a contact is durable. */
  readonly onEvent: (contact: ContactRow) => void;
}

/** Adds a path with its handlers; other methods are answered with 405 and `Allow` (RFC 9110 §15.5.6). */
export function resource(
  router: Router,
  path: string,
  handlers: { readonly get?: RequestHandler; readonly post?: readonly RequestHandler[] },
): void {
  const route = router.route(path);
  // Express answers HEAD with the GET handler.
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

/** The id in the path; 404 when it is not a uuid. */
export function pathId(value: unknown): string {
  const id = z.guid().safeParse(value);
  if (!id.success) throw notFound();
  return id.data.toLowerCase();
}

export const notFound = () => new ApiError(404, 'there is no such resource in this shop');

/** The row; 404 when it is undefined. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}

/**
 * The page envelope (API §2.6). The links repeat the request's filters; their origin is the platform's
 * address, not the Host header.
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
    // The request target may contain another origin (RFC 9112 §3.2.2).
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
