import { pipeline } from 'node:stream/promises';
import type { Request, Router } from 'express';
import type { MediaRecord } from '../../platform-api/resources.ts';
import { ApiError } from '../api-error.ts';
import { shopOf } from '../authenticate.ts';
import { readUpload } from '../read-upload.ts';
import { sendJson } from '../respond.ts';
import type { MediaRow } from '../store/rows.ts';
import type { RouteContext } from './context.ts';
import { notFound, pathId, resource } from './resource.ts';

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
            name: upload.name,
            permission: upload.permission,
            size,
            now: new Date(now()).toISOString(),
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

/** Headers and the other parts are allowed 64 KiB; the file itself is counted as it streams. */
function refuseDeclared(request: Request, maxBytes: number): void {
  const declared = Number(request.get('content-length') ?? 0);
  if (declared > maxBytes + 65_536) throw new ApiError(413, 'the file is too large');
}

/**
 * The download links. Files come from strangers and are served from an origin of ours: never
 * sniffed, never run, and shown in place only when they are pictures, sound or film.
 */
export function mediaFileRoutes(router: Router, { store, media, now }: RouteContext): void {
  resource(router, '/media-files/:id', {
    get: async (request, response) => {
      const row = store.media.byLink(pathId(request.params['id']));
      if (row === undefined || !mayRead(row, request)) throw notFound();
      response.writeHead(200, headersOf(row));
      await pipeline(media.read(row.id), response).catch(() => response.destroy());
    },
  });

  const mayRead = (row: MediaRow, { query }: Request) => {
    if (row.permission === 'public') return true;
    const { expires, signature } = query;
    if (typeof expires !== 'string' || typeof signature !== 'string') return false;
    return media.isSigned(row.id, expires, signature, now());
  };
}

const INLINE = /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/|video\/)/;
const TOKEN = /^[\w.+-]+\/[\w.+-]+$/;

function headersOf(row: MediaRow): Record<string, string | number> {
  const disposition = INLINE.test(row.type) ? 'inline' : 'attachment';
  // RFC 8187 §3.2.1: of what encodeURIComponent leaves alone, these are not allowed.
  const name = encodeURIComponent(row.original_name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return {
    'Content-Type': TOKEN.test(row.type) ? row.type : 'application/octet-stream',
    'Content-Length': row.size,
    'Content-Disposition': `${disposition}; filename*=UTF-8''${name}`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Cache-Control': 'private, max-age=300',
  };
}
