import { resolve as resolvePath } from 'node:path';
import type { Request, Response, Router } from 'express';
import { create as contentDisposition } from 'content-disposition';
import type { MediaRecord } from '../../platform-api/resources.ts';
import { shopOf } from '../authenticate.ts';
import { readUpload, tooLarge } from './read-upload.ts';
import { sendJson } from '../respond.ts';
import type { MediaRow } from '../store/rows.ts';
import { notFound, pathId, resource, type RouteContext } from './resource.ts';
import { ApiError } from '../api-error.ts';

/** API §4.8 */
export function mediaRoutes(router: Router, context: RouteContext, maxBytes: number): void {
  const { store, media, now } = context;
  resource(router, '/media/', {
    post: [
      async (request, response) => {
        const shop = shopOf(response);
        refuseDeclared(request, maxBytes);
        const upload = await readUpload(request, media, maxBytes);
        const { id, size, sniffedType } = upload.file;
        const row = await store.write(() =>
          store.media.create({
            id,
            shop,
            type: sniffedType ?? (upload.type === '' ? 'application/octet-stream' : upload.type),
            original_name: upload.name,
            permission: upload.permission,
            size,
            created_at: new Date(now()).toISOString(),
          }),
        );
        sendJson(response, 201, toMedia(row, context));
      },
    ],
  });
}

/** API §2.5 */
function toMedia(row: MediaRow, { media, baseUrl, now }: RouteContext): MediaRecord {
  return {
    id: row.id,
    type: row.type,
    url: baseUrl() + media.link(row.id, row.permission === 'private', now()),
    original_name: row.original_name,
    permission: row.permission,
    created_at: row.created_at,
  };
}

/** Allows 64 KiB for the headers and the other parts; the file itself is counted as it streams. */
function refuseDeclared(request: Request, maxBytes: number): void {
  const declared = Number(request.get('content-length') ?? 0);
  if (declared > maxBytes + 65_536) throw tooLarge(maxBytes);
}

/**
 * The download links. Files come from strangers and are served from the platform's origin: browsers
 * must not sniff or run them, and may display only images, audio and video. `Range` requests are
 * supported (RFC 9110 §14).
 */
export function mediaFileRoutes(router: Router, { store, media, now }: RouteContext): void {
  resource(router, '/media-files/:id', {
    get: async (request, response) => {
      const row = store.media.byLink(pathId(request.params['id']));
      if (row === undefined || !mayRead(row, request)) throw notFound();
      await sendFile(response, media.path(row.id), headersOf(row));
    },
  });

  const mayRead = (row: MediaRow, { query }: Request) => {
    if (row.permission === 'public') return true;
    const { expires, signature } = query;
    if (typeof expires !== 'string' || typeof signature !== 'string') return false;
    return media.isSigned(row.id, expires, signature, now());
  };
}

/** Rejects only before the answer has begun; a later failure closes the connection. */
export function sendFile(
  response: Response,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { headers, dotfiles: 'allow', cacheControl: false } as const;
    response.sendFile(resolvePath(path), options, (error: unknown) => {
      if (error === undefined || response.headersSent || response.destroyed) resolve();
      else reject(toApiError(error));
    });
  });
}

function toApiError(error: unknown): Error {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 404) return notFound();
  if (status !== 416) {
    return error instanceof Error ? error : new Error('the file cannot be read', { cause: error });
  }
  return new ApiError(416, 'the file is shorter than that', {
    Range: 'expected a part of the file',
  });
}

const INLINE = /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/|video\/)/;
const TOKEN = /^[\w.+-]+\/[\w.+-]+$/;

/** Browsers must not sniff or run it, and may show only pictures, audio and video. */
export function headersOf(row: MediaRow): Record<string, string> {
  return {
    'Content-Type': TOKEN.test(row.type) ? row.type : 'application/octet-stream',
    'Content-Disposition': contentDisposition(row.original_name || undefined, {
      type: INLINE.test(row.type) ? 'inline' : 'attachment',
    }),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Cache-Control': 'private, max-age=300',
  };
}
