import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { drainRequest } from '../../runtime/final-answer.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import { type AttachmentInfo, MAX_FILE_BYTES, MAX_FILES, UPLOAD_PATH } from './events.ts';
import { InFlight } from './in-flight.ts';
import type { ChatLimits } from './limits.ts';
import {
  Answer,
  assertCurrent,
  bearerOf,
  removeUpload,
  sendUpload,
  type UploadBearer,
} from './uploads/own-files.ts';
import { receiveUpload, UploadAborted } from './uploads/receive.ts';
import type { SessionParts } from './session.ts';
import type { ChatShop, Origins } from './shop.ts';
import { TooManyVisitors } from './visitors.ts';

export interface UploadParts extends Omit<SessionParts, 'intake' | 'inFlight' | 'onRefused'> {
  readonly blobs: BlobStore;
  readonly shops: ReadonlyMap<string, ChatShop>;
  readonly origins: Origins;
  readonly networkOf: (request: IncomingMessage) => string;
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
  router.get(
    `${UPLOAD_PATH}/:id`,
    answer((...each) => sendUpload(parts, ...each)),
  );
  router.delete(
    `${UPLOAD_PATH}/:id`,
    answer((bearer, request, response) => removeUpload(parts, bearer, request, response)),
  );
  router.post(
    UPLOAD_PATH,
    answer((bearer, request, response) => door.take(bearer, request, response)),
  );
  return { router, stop: () => door.stop() };
}

type Respond = (
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
      await respond(bearer, request, response, this.#stopping.signal);
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
        throw new Answer(429, 'rate_limited', RETRY_WAITING_SECONDS);
      }
      const upload = await receive(this.#parts, bearer, request, taken, this.#stopping.signal);
      kept = upload.size;
      return upload;
    } finally {
      await taken.leave(kept);
    }
  }
}

/**
 * The space that uploads leave free beyond the spool's reserve: on a disk that fills up, files are
 * refused while there is still room for several hundred thousand messages.
 */
const SPARE_BYTES = 256 * 1024 * 1024;

/** The space reserved for an upload in progress. */
interface ReservedSpace {
  /** This many more bytes were written; the disk's free space no longer includes them. */
  readonly wrote: (bytes: number) => void;
  /** @param kept the number of bytes that remain on the disk */
  leave(kept: number): Promise<void>;
}

/** Reserves disk space for uploads before their first byte is written. */
export class UploadSpace {
  readonly #blobs: Pick<BlobStore, 'assertSpace'>;
  readonly #logger: Pick<Logger, 'warn'>;
  /** Bytes that admitted uploads may still write. */
  #underWay = 0;
  #isLow = false;

  constructor(blobs: Pick<BlobStore, 'assertSpace'>, logger: Pick<Logger, 'warn'>) {
    this.#blobs = blobs;
    this.#logger = logger;
  }

  /**
   * @param bytes the maximum size of the upload
   * @throws {Answer} 429: this network has uploaded too much for now
   * @throws {SpoolFull} the disk is low
   */
  async take(bytes: number, network: string, limits: ChatLimits): Promise<ReservedSpace> {
    const limited = await limits.uploadBytes(network, bytes);
    if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
    const takenAt = Date.now();
    let toCome = bytes;
    this.#underWay += bytes;
    const wrote = (count: number): void => {
      const come = Math.min(count, toCome);
      toCome -= come;
      this.#underWay -= come;
    };
    const leave = async (kept: number): Promise<void> => {
      wrote(toCome);
      await limits.giveBack(network, bytes - kept, takenAt);
    };
    try {
      await this.#assertSpace(SPARE_BYTES + this.#underWay);
    } catch (error) {
      await leave(0);
      throw error;
    }
    return { wrote, leave };
  }

  /** If the disk is too small for files, every upload is refused as "busy". */
  async #assertSpace(bytes: number): Promise<void> {
    try {
      await this.#blobs.assertSpace(bytes);
      this.#isLow = false;
    } catch (error) {
      if (error instanceof SpoolFull && !this.#isLow) {
        this.#isLow = true;
        this.#logger.warn('chat.uploads_no_room', { needed: bytes });
      }
      throw error;
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
    await store.addUpload({
      ...file,
      ...{ id, visitorId },
      shopId: shop.shopId,
      at: clock(),
    });
  } catch (error) {
    await blobs.remove(blob);
    throw error;
  }
  logger.info('chat.uploaded', { upload: id, visitor: visitorId, size });
  return { id, name, type, size };
}

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
  // The response has begun; the client notices the truncated file.
  if (response.headersSent) {
    response.destroy();
    return;
  }
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
