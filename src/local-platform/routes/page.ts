import type { Request } from 'express';
import type { Page } from '../../platform-api/resources.ts';
import type { Slice } from '../store/listing.ts';

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
