import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { Logger } from '../../../observability/logger.ts';
import type { BlobStore } from '../../../spool/blobs.ts';
import type { ChatStore, UploadRecord } from '../../../spool/chat-store.ts';
import type { ErrorWord } from '../events.ts';
import type { ChatLimits } from '../limits.ts';
import { isCurrent, type TokenBearer, type VisitorTokens } from '../recognition.ts';
import { type ChatShop, Origins } from '../shop.ts';

/** The bearer of the token in a file request. */
export interface UploadBearer extends TokenBearer {
  readonly shop: ChatShop;
}

/** A response other than the file. */
export class Answer extends Error {
  override name = 'Answer';
  readonly status: number;
  readonly word: ErrorWord | 'unsupported' | 'origin' | 'not_found';
  readonly retryAfter: number | undefined;
  constructor(status: number, word: Answer['word'], retryAfter?: number) {
    super(word);
    this.status = status;
    this.word = word;
    this.retryAfter = retryAfter;
  }
}

/** @throws {Answer} 401 without a valid token, 403 from another site's page */
export function bearerOf(
  {
    tokens,
    shops,
  }: { readonly tokens: VisitorTokens; readonly shops: ReadonlyMap<string, ChatShop> },
  request: IncomingMessage,
): UploadBearer {
  const token = /^Bearer ([\w.-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const bearer = token === undefined ? undefined : tokens.verify(token);
  const shop = bearer && shops.get(bearer.widgetKey);
  if (bearer === undefined || shop === undefined) throw new Answer(401, 'unauthorized');
  if (!Origins.admits(shop, request.headers.origin)) throw new Answer(403, 'origin');
  return { ...bearer, shop };
}

/** @throws {Answer} 401: the token belongs to a guest who is now identified */
export async function assertCurrent(
  { store }: { readonly store: ChatStore },
  bearer: UploadBearer,
): Promise<void> {
  const record = await store.visitor(bearer.shop.shopId, bearer.visitorId);
  if (!isCurrent(bearer, record)) throw new Answer(401, 'unauthorized');
}

/** 25 MiB in this time are 87 KiB per second. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;

export interface OwnFileParts {
  readonly store: ChatStore;
  readonly blobs: BlobStore;
  readonly limits: (shop: ChatShop) => ChatLimits;
  readonly logger: Logger;
}

/**
 * Sends visitors their own file. It is a sandboxed download with the type detected from its bytes,
 * so no browser displays it under the gateway's origin.
 * @throws {Answer} 401, 404, 429
 */
export async function sendUpload(
  { store, blobs, limits }: OwnFileParts,
  bearer: UploadBearer,
  request: Request,
  response: Response,
  signal: AbortSignal,
): Promise<void> {
  const { shop, visitorId } = bearer;
  const limited = await limits(shop).download(visitorId);
  if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
  await assertCurrent({ store }, bearer);
  const id = String(request.params['id']);
  const upload = id.length > 64 ? undefined : await store.upload(shop.shopId, visitorId, id);
  if (upload === undefined || !(await isKept(blobs, upload))) throw new Answer(404, 'not_found');
  // An id always refers to the same file. The visitor's browser caches it and revalidates each
  // time.
  const etag = `"${upload.id}"`;
  response.set({ 'Cache-Control': 'private, no-cache', ETag: etag });
  response.vary('Authorization');
  if (request.headers['if-none-match'] === etag) {
    response.status(304).end();
    return;
  }
  response.set({
    'Content-Type': upload.type,
    'Content-Length': String(upload.size),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  });
  response.attachment(upload.name);
  // `attachment` derives the type from the name; the detected type is used instead.
  response.set('Content-Type', upload.type);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // A client that does not read would keep a file and a connection open forever.
  const deadline = setTimeout(() => response.destroy(), DOWNLOAD_TIMEOUT_MS);
  try {
    await pipeline(blobs.read(upload.blob), response, { signal });
  } finally {
    clearTimeout(deadline);
  }
}

/** The file is removed some time before its row, and a disk can lose a file. */
async function isKept(blobs: BlobStore, { blob }: UploadRecord): Promise<boolean> {
  return stat(blobs.path(blob)).then(
    () => true,
    () => false,
  );
}

/**
 * Removes a file that the visitor discarded before any message used it. A file that is used,
 * unknown or another visitor's is kept, with the same response: repeating the request is not an
 * error.
 * @throws {Answer} 401, 429
 */
export async function removeUpload(
  { store, blobs, limits, logger }: OwnFileParts,
  bearer: UploadBearer,
  request: Request,
  response: Response,
): Promise<void> {
  const { shop, visitorId } = bearer;
  const limited = await limits(shop).call(visitorId);
  if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
  await assertCurrent({ store }, bearer);
  const id = String(request.params['id']);
  const blob = id.length > 64 ? undefined : await store.removeUpload(shop.shopId, visitorId, id);
  if (blob !== undefined) {
    // After its row: the next start removes files without a row.
    await blobs.remove(blob);
    logger.info('chat.upload_removed', { upload: id, visitor: visitorId });
  }
  response.set('Cache-Control', 'no-store').status(204).end();
}
