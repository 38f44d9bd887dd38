import { resolve as resolvePath } from 'node:path';
import { create as contentDisposition } from 'content-disposition';
import type { Request, Response, Router } from 'express';
import { ApiError } from '../api-error.ts';
import type { MediaRow } from '../store/rows.ts';
import type { RouteContext } from './context.ts';
import { notFound, pathId, resource } from './resource.ts';

/**
 * The download links. Files come from strangers and are served from an origin of ours: never
 * sniffed, never run, and shown in place only when they are pictures, sound or film. A part of a
 * file may be asked for (RFC 9110 §14), as players do.
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

/** Resolves when the answer has begun, however it ends: then a failure can only be a cut. */
function sendFile(
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
    return error instanceof Error
      ? error
      : new Error('a file that cannot be read', { cause: error });
  }
  return new ApiError(416, 'the file is shorter than that', {
    Range: 'expected a part of the file',
  });
}

const INLINE = /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/|video\/)/;
const TOKEN = /^[\w.+-]+\/[\w.+-]+$/;

function headersOf(row: MediaRow): Record<string, string> {
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
