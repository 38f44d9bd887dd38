import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import type { Logger } from '../../observability/logger.ts';
import { fileKind, HEAD_BYTES } from '../../runtime/file-kind.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { UploadRecord } from '../../spool/chat-store.ts';
import { SpoolFull } from '../../spool/errors.ts';
import { type ErrorWord, MAX_FILE_BYTES } from './events.ts';
import type { ChatLimits } from './limits.ts';
import { withoutEnd } from '../../runtime/without-end.ts';

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

type ReceivedFile = Omit<UploadRecord, 'id'>;

/** The client disconnected or took too long, so there is no response. */
export class UploadAborted extends Error {
  override name = 'UploadAborted';
}

const LIMITS = {
  fileSize: MAX_FILE_BYTES,
  files: 1,
  fields: 4,
  fieldSize: 1_024,
  parts: 8,
  headerPairs: 20,
  headerSize: 8 * 1024,
};
/** The boundaries and part headers around the file. */
const MULTIPART_OVERHEAD = 64 * 1024;

/**
 * Streams the part `file` of a multipart body (RFC 7578) to disk. After any error, no file remains.
 * @param wrote called with the number of further bytes on their way to the disk
 * @throws {Answer} {UploadAborted} {SpoolFull} {SpoolUnavailable}
 */
export async function receiveUpload(
  request: IncomingMessage,
  blobs: BlobStore,
  signal: AbortSignal,
  wrote: (bytes: number) => void = () => undefined,
): Promise<ReceivedFile> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + MULTIPART_OVERHEAD) {
    throw new Answer(413, 'too_large');
  }
  const busboy = parserFor(request);
  // Ends the file's stream if the request does not complete.
  const abort = new AbortController();
  let file: Promise<ReceivedFile> | undefined;
  let onStop = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      busboy.on('file', (field, stream, name, _encoding, type) => {
        if (field !== 'file' || file !== undefined) {
          stream.resume();
          return;
        }
        file = storeFile(stream, { name, type, wrote }, blobs, abort.signal);
        file.catch(reject);
      });
      busboy.on('finish', resolve);
      busboy.on('error', () => reject(new Answer(400, 'invalid')));
      request.on('error', (error) => reject(new UploadAborted('reset', { cause: error })));
      request.on('close', () => {
        if (!request.complete) reject(new UploadAborted('the client went away'));
      });
      onStop = (): void => reject(new UploadAborted('the gateway stops'));
      signal.addEventListener('abort', onStop);
      if (signal.aborted) onStop();
      // `pipeline` would destroy the request, and then no response could be sent.
      request.pipe(busboy);
    });
    if (file === undefined) throw new Answer(400, 'invalid');
    return await file;
  } catch (error) {
    request.unpipe(busboy);
    abort.abort();
    // When this settles, the file is closed; the first error is the one to report.
    await file?.then(
      ({ blob }) => blobs.remove(blob),
      () => undefined,
    );
    throw error;
  } finally {
    signal.removeEventListener('abort', onStop);
  }
}

function parserFor(request: IncomingMessage) {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(contentType)) {
    throw new Answer(415, 'unsupported');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: LIMITS,
    });
  } catch {
    throw new Answer(400, 'invalid');
  }
}

async function storeFile(
  stream: BusboyFileStream,
  given: { name: string; type: string; wrote: (bytes: number) => void },
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<ReceivedFile> {
  const name = cleanFileName(given.name);
  const sniffer = new TypeSniffer(given.type);
  const writer = blobs.writer({ inlineMaxBytes: 0 });
  const tooLarge = new Answer(413, 'too_large');
  try {
    assertInert(name, given.type);
    stream.once('limit', () => sniffer.destroy(tooLarge));
    sniffer.on('data', (chunk: Buffer) => given.wrote(chunk.length));
    await pipeline(stream, sniffer, writer, { signal });
    if (stream.truncated) throw tooLarge;
    if (writer.size === 0) throw new Answer(400, 'invalid');
    const raw = await writer.commit();
    if (raw.kind !== 'file') throw new Error('a writer that keeps nothing inline made no file');
    const { blob, size, checksum } = raw;
    return { blob, size, name, type: sniffer.type, ...(checksum !== undefined && { checksum }) };
  } catch (error) {
    // The rest of this part is read and discarded.
    stream.on('error', () => undefined).resume();
    await writer.abort();
    throw error;
  }
}

/**
 * The last component of a path, without characters that cause problems in terminals and headers;
 * never empty.
 */
export function cleanFileName(name: string): string {
  const base = name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').replace(/^.*[\\/]/, '');
  const trimmed = withoutEnd(base.replace(/^[.\s]+/, ''), /[.\s]/);
  if (trimmed.length <= 200) return trimmed || 'file';
  const extension = /\.[^.]{1,16}$/.exec(trimmed)?.[0] ?? '';
  return `${trimmed.slice(0, 200 - extension.length)}${extension}`;
}

/** Trailing dots and blanks are ignored, since Windows removes them. */
const ACTIVE_NAMES = /\.(?:svgz?|x?html?|xht|shtml?|mht(?:ml)?|hta|htc|xslt?)[.\s]*$/i;
const ACTIVE_TYPES = /^(?:image\/svg\+xml|text\/html|application\/xhtml\+xml|text\/javascript)\b/i;
/** Text types that cannot be detected from the bytes, so the declared type is used. */
const TEXT_TYPES = new Set(['text/csv', 'text/markdown', 'text/calendar', 'text/vcard']);
/**
 * Types that browsers display or download but never execute; any other type is stored as an untyped
 * download. XML-based types are not included, because scripts run in any XML document (SVG, XHTML).
 */
const KNOWN_TYPES = new Set([
  ...['png', 'apng', 'jpeg', 'gif', 'webp', 'avif', 'heic', 'heif', 'bmp', 'tiff', 'x-icon'].map(
    (image) => `image/${image}`,
  ),
  ...['mpeg', 'mp4', 'x-m4a', 'aac', 'ogg', 'ogg; codecs=opus', 'wav', 'flac', 'amr', 'aiff'].map(
    (audio) => `audio/${audio}`,
  ),
  ...['mp4', 'x-m4v', 'webm', 'quicktime', 'matroska', 'mpeg', 'ogg', '3gpp', '3gpp2'].map(
    (video) => `video/${video}`,
  ),
  ...['video/vnd.avi', 'application/pdf', 'application/rtf', 'application/x-cfb'],
  ...['zip', 'gzip', 'x-tar', 'x-7z-compressed', 'x-rar-compressed', 'epub+zip'].map(
    (archive) => `application/${archive}`,
  ),
  ...['wordprocessingml.document', 'spreadsheetml.sheet', 'presentationml.presentation'].map(
    (office) => `application/vnd.openxmlformats-officedocument.${office}`,
  ),
  ...['text', 'spreadsheet', 'presentation', 'graphics'].map(
    (office) => `application/vnd.oasis.opendocument.${office}`,
  ),
]);
const UNKNOWN = 'application/octet-stream';

/** @throws {Answer} 415, by the declared name and type; the bytes are checked later */
function assertInert(name: string, declaredType: string): void {
  if (ACTIVE_NAMES.test(name) || ACTIVE_TYPES.test(declaredType)) {
    throw new Answer(415, 'unsupported');
  }
}

/**
 * The MIME type under which a file is stored. Markup other than SVG and HTML (an XML invoice, a log
 * with tags) and unknown formats are stored as `application/octet-stream`, which browsers download
 * but never open.
 * @throws {Answer} 415: SVG, HTML and XHTML, by the root element
 */
async function typeOf(head: Uint8Array, declaredType: string): Promise<string> {
  const found = await fileKind(head);
  switch (found.kind) {
    case 'page':
      throw new Answer(415, 'unsupported');
    case 'recognized':
      return KNOWN_TYPES.has(found.type) && !found.hasPage ? found.type : UNKNOWN;
    case 'text': {
      if (found.markup !== 'none') return UNKNOWN;
      const named = [found.type, declaredType.toLowerCase()];
      return named.find((type) => TEXT_TYPES.has(type ?? '')) ?? 'text/plain';
    }
    case 'unknown':
      return UNKNOWN;
  }
}

/** Passes a file through once its first bytes have identified it. */
class TypeSniffer extends Transform {
  /** Set when the stream has ended. */
  type = UNKNOWN;
  readonly #declaredType: string;
  #head: Buffer[] | undefined = [];
  #headBytes = 0;

  constructor(declaredType: string) {
    super();
    this.#declaredType = declaredType;
  }

  override _transform(chunk: Buffer, _encoding: string, callback: TransformCallback): void {
    if (this.#head === undefined) {
      callback(null, chunk);
      return;
    }
    this.#head.push(chunk);
    this.#headBytes += chunk.length;
    if (this.#headBytes < HEAD_BYTES) callback();
    else this.#release(this.#head, callback);
  }

  override _flush(callback: TransformCallback): void {
    if (this.#head === undefined) callback();
    else this.#release(this.#head, callback);
  }

  #release(chunks: readonly Buffer[], callback: TransformCallback): void {
    this.#head = undefined;
    const head = Buffer.concat(chunks);
    typeOf(head.subarray(0, HEAD_BYTES), this.#declaredType).then(
      (type) => {
        this.type = type;
        callback(null, head);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('sniffing failed')),
    );
  }
}

/**
 * The space that uploads leave free beyond the spool's reserve: on a disk that fills up, files are
 * refused while there is still room for several hundred thousand messages.
 */
const SPARE_BYTES = 256 * 1024 * 1024;

/** The space reserved for an upload in progress. */
export interface ReservedSpace {
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
    let toCome = bytes;
    this.#underWay += bytes;
    const wrote = (count: number): void => {
      const come = Math.min(count, toCome);
      toCome -= come;
      this.#underWay -= come;
    };
    const leave = async (kept: number): Promise<void> => {
      wrote(toCome);
      await limits.giveBack(network, bytes - kept);
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
