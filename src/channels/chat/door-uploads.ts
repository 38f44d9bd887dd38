import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { errorFields } from '../../observability/logger.ts';
import { drainRequest } from '../../runtime/final-answer.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import { type AttachmentInfo, MAX_FILE_BYTES, MAX_FILES, UPLOAD_PATH } from './events.ts';
import { InFlight } from './connections.ts';
import { isCurrent, type TokenBearer } from './recognition.ts';
import type { SessionParts } from './session.ts';
import { type ChatShop, Origins } from './shop.ts';
import {
  Answer,
  receiveUpload,
  type ReservedSpace,
  UploadAborted,
  UploadSpace,
} from './uploads.ts';
import { TooManyVisitors } from './visitors.ts';

export interface UploadParts extends Omit<
  SessionParts,
  'intake' | 'conversations' | 'inFlight' | 'onRefused' | 'signals'
> {
  readonly blobs: BlobStore;
  readonly shops: ReadonlyMap<string, ChatShop>;
  readonly origins: Origins;
  readonly networkOf: (request: IncomingMessage) => string;
}

/** The bearer of the token in a file request. */
interface UploadBearer extends TokenBearer {
  readonly shop: ChatShop;
}

/** A client that does not declare the size may send the maximum. */
const expectedBytes = ({ headers }: IncomingMessage): number =>
  Math.min(Number(headers['content-length'] ?? MAX_FILE_BYTES), MAX_FILE_BYTES);
/** How much of a refused body is still read, so that the response arrives. */
const DRAIN_BYTES = MAX_FILE_BYTES + 1024 * 1024;
/** Ten files are waiting: one of them has to be used or expire. */
const RETRY_WAITING_SECONDS = 60;

/**
 * `POST /chat/uploads`: uploads one file for the visitor of the token. `GET /chat/uploads/<id>`:
 * returns the file to that visitor while it is stored. `DELETE /chat/uploads/<id>`: removes the
 * file if no message has used it yet.
 */
export function createUploadRouter(parts: UploadParts): { router: Router; stop(): Promise<void> } {
  const door = new UploadDoor(parts);
  const router = Router();
  const preflight =
    (methods: string) =>
    (request: Request, response: Response): void => {
      allowOrigin(request, response, parts.origins);
      response.set({
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': 'authorization, content-type',
        'Access-Control-Max-Age': '600',
      });
      response.status(204).end();
    };
  const answer =
    (respond: Respond) =>
    (request: Request, response: Response, next: NextFunction): void => {
      allowOrigin(request, response, parts.origins);
      door
        .answer(request, response, respond)
        .catch((error: unknown) => refuse(parts, request, response, error))
        .catch(next);
    };
  router.options(UPLOAD_PATH, preflight('POST'));
  router.options(`${UPLOAD_PATH}/:id`, preflight('GET, DELETE'));
  router.get(`${UPLOAD_PATH}/:id`, answer(sendUpload));
  router.delete(`${UPLOAD_PATH}/:id`, answer(removeUpload));
  router.post(
    UPLOAD_PATH,
    answer((_parts, bearer, request, response) => door.take(bearer, request, response)),
  );
  return { router, stop: () => door.stop() };
}

type Respond = (
  parts: UploadParts,
  bearer: UploadBearer,
  request: Request,
  response: Response,
  stopping: AbortSignal,
) => Promise<void>;

/** Uploads and downloads in progress. */
class UploadDoor {
  readonly #parts: UploadParts;
  readonly #inFlight = new InFlight();
  readonly #stopping = new AbortController();
  /** The number of uploads in progress per visitor. */
  readonly #underWay = new Map<string, number>();
  readonly #room: UploadSpace;

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.#room = new UploadSpace(parts.blobs, parts.logger);
    // There is one listener per upload and download in progress, limited only by the rate limits.
    setMaxListeners(0, this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#inFlight.close();
  }

  /** @throws {Answer} and the errors of `respond` */
  async answer(request: Request, response: Response, respond: Respond): Promise<void> {
    const bearer = bearerOf(this.#parts, request);
    if (this.#inFlight.closed) throw new Answer(503, 'busy');
    // Before the first await, so that a stop includes this request.
    this.#inFlight.begin();
    try {
      await respond(this.#parts, bearer, request, response, this.#stopping.signal);
    } finally {
      this.#inFlight.end();
    }
  }

  async take(bearer: UploadBearer, request: Request, response: Response): Promise<void> {
    const key = `${bearer.shop.shopId}/${bearer.visitorId}`;
    // Counted before the first await, so that concurrent uploads see one another.
    const others = this.#underWay.get(key) ?? 0;
    this.#underWay.set(key, others + 1);
    try {
      const upload = await this.#takeBeside(others, bearer, request);
      response.status(201).json(upload);
    } finally {
      const left = (this.#underWay.get(key) ?? 1) - 1;
      if (left > 0) this.#underWay.set(key, left);
      else this.#underWay.delete(key);
    }
  }

  /** @param others uploads of this visitor that were already in progress */
  async #takeBeside(
    others: number,
    bearer: UploadBearer,
    request: Request,
  ): Promise<AttachmentInfo> {
    const { limits, store, visitors, networkOf } = this.#parts;
    const { shop, visitorId } = bearer;
    const limited = await limits(shop).upload(visitorId);
    if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
    await assertCurrent(this.#parts, bearer);
    const network = networkOf(request);
    const taken = await this.#room.take(expectedBytes(request), network, limits(shop));
    let kept = 0;
    try {
      await visitors.stored(shop, visitorId, network);
      const waiting = await store.countUnusedUploads(shop.shopId, visitorId);
      if (others + waiting >= MAX_FILES) {
        throw tooManyWaiting();
      }
      const upload = await receive(this.#parts, bearer, request, taken, this.#stopping.signal);
      kept = upload.size;
      return upload;
    } finally {
      await taken.leave(kept);
    }
  }
}

async function receive(
  { store, blobs, clock, logger }: UploadParts,
  { shop, visitorId }: UploadBearer,
  request: Request,
  { wrote }: ReservedSpace,
  stopping: AbortSignal,
): Promise<AttachmentInfo> {
  // The listener enforces the minimum rate.
  const file = await receiveUpload(request, blobs, stopping, wrote);
  const { blob, name, type, size } = file;
  const id = randomUUID();
  try {
    const upload = { ...file, ...{ id, visitorId, shopId: shop.shopId, at: clock() } };
    // Counted again: the visitor may have uploaded files through other gateways meanwhile.
    if (!(await store.addUpload(upload, MAX_FILES))) throw tooManyWaiting();
  } catch (error) {
    await blobs.remove(blob);
    throw error;
  }
  logger.info('chat.uploaded', { upload: id, visitor: visitorId, size });
  return { id, name, type, size };
}

const tooManyWaiting = (): Answer => new Answer(429, 'rate_limited', RETRY_WAITING_SECONDS);

function allowOrigin(request: Request, response: Response, origins: Origins): void {
  const { origin } = request.headers;
  response.vary('Origin');
  if (origin !== undefined && origins.someAdmits(origin)) {
    response.set('Access-Control-Allow-Origin', origin);
    // A page of another origin can read only the headers listed here.
    response.set('Access-Control-Expose-Headers', 'Retry-After');
  }
}

function refuse(parts: UploadParts, request: Request, response: Response, error: unknown): void {
  if (error instanceof UploadAborted) {
    parts.logger.debug('chat.upload_aborted');
    request.destroy();
    return;
  }
  // `pipeline` has destroyed the response, and the client notices the truncated file.
  if (response.headersSent) return;
  const answer = answerOf(error);
  if (answer.status === 500) parts.logger.error('chat.upload_failed', errorFields(error));
  parts.metrics.refused.inc({ channel: 'web_chat', reason: answer.word });
  if (answer.retryAfter !== undefined) response.set('Retry-After', String(answer.retryAfter));
  response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  response.status(answer.status).json({
    error: answer.word,
    ...(answer.retryAfter !== undefined && { retryAfter: answer.retryAfter }),
  });
  drainRequest(request, DRAIN_BYTES);
}

function answerOf(error: unknown): Answer {
  if (error instanceof Answer) return error;
  if (error instanceof TooManyVisitors) {
    return new Answer(429, 'rate_limited', error.limited.retryAfter);
  }
  if (error instanceof SpoolFull || error instanceof SpoolUnavailable) {
    return new Answer(503, 'busy', 30);
  }
  return new Answer(500, 'busy');
}

/** @throws {Answer} 401 without a valid token, 403 from another site's page */
function bearerOf({ tokens, shops }: UploadParts, request: IncomingMessage): UploadBearer {
  const token = /^Bearer ([\w.-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const bearer = token === undefined ? undefined : tokens.verify(token);
  const shop = bearer && shops.get(bearer.widgetKey);
  if (bearer === undefined || shop === undefined) throw new Answer(401, 'unauthorized');
  if (!Origins.admits(shop, request.headers.origin)) throw new Answer(403, 'origin');
  return { ...bearer, shop };
}

/** @throws {Answer} 401: the token belongs to a guest who is now identified */
async function assertCurrent(
  { store }: Pick<UploadParts, 'store'>,
  bearer: UploadBearer,
): Promise<void> {
  const record = await store.visitor(bearer.shop.shopId, bearer.visitorId);
  if (!isCurrent(bearer, record)) throw new Answer(401, 'unauthorized');
}

/** A file of 25 MiB needs 87 KiB per second to be sent within this time. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;

/**
 * Sends visitors their own file. It is a sandboxed download with the type detected from its bytes,
 * so no browser displays it under the gateway's origin.
 * @throws {Answer} 401, 404, 429
 */
async function sendUpload(
  { store, blobs, limits }: UploadParts,
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
  if (upload === undefined || !(await blobs.exists(upload.blob)))
    throw new Answer(404, 'not_found');
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

/**
 * Removes a file that the visitor discarded before any message used it. A file that is used,
 * unknown or another visitor's is kept, with the same response: repeating the request is not an
 * error.
 * @throws {Answer} 401, 429
 */
async function removeUpload(
  { store, blobs, limits, logger }: UploadParts,
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
