import type { Request, Router } from 'express';
import type { MediaRecord } from '../../platform-api/resources.ts';
import { shopOf } from '../authenticate.ts';
import { readUpload, tooLarge } from '../read-upload.ts';
import { sendJson } from '../respond.ts';
import type { MediaRow } from '../store/rows.ts';
import type { RouteContext } from './context.ts';
import { resource } from './resource.ts';

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
  if (declared > maxBytes + 65_536) throw tooLarge(maxBytes);
}
