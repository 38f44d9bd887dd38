import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { fileKind, HEAD_BYTES } from '../../../runtime/file-kind.ts';
import type { BlobStore } from '../../../spool/blobs.ts';
import type { BlobName } from '../../../domain/ids.ts';
import { MAX_FILE_BYTES } from '../events.ts';

export interface ReceivedFile {
  readonly blob: BlobName;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly checksum?: number;
}

/** The upload cannot be taken; `status` is the HTTP answer. */
export class UploadRefused extends Error {
  override name = 'UploadRefused';
  readonly status: 400 | 413 | 415;
  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The client went away, or took too long. Nobody is there to be answered. */
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
/** Boundaries and part headers around the file. */
const MULTIPART_OVERHEAD = 64 * 1024;

/**
 * Takes the part `file` of a multipart body (RFC 7578) to disk as it comes in. Whatever goes
 * wrong, no file stays behind.
 * @param wrote told of so many more bytes on their way to the disk
 * @throws {UploadRefused} {UploadAborted} {UnsupportedFile} {SpoolFull} {SpoolUnavailable}
 */
export async function receiveUpload(
  request: IncomingMessage,
  blobs: BlobStore,
  signal: AbortSignal,
  wrote: (bytes: number) => void = () => undefined,
): Promise<ReceivedFile> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + MULTIPART_OVERHEAD) {
    throw new UploadRefused(413, 'the body is larger than a file may be');
  }
  const busboy = parserFor(request);
  // Ends the file's own stream when the request does not get to its end.
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
      busboy.on('error', (error) =>
        reject(new UploadRefused(400, 'the body is not valid multipart', { cause: error })),
      );
      request.on('error', (error) => reject(new UploadAborted('reset', { cause: error })));
      request.on('close', () => {
        if (!request.complete) reject(new UploadAborted('the client went away'));
      });
      onStop = (): void => reject(new UploadAborted('the gateway stops'));
      signal.addEventListener('abort', onStop);
      if (signal.aborted) onStop();
      // Not `pipeline`: it would destroy the request, and with it the way to answer.
      request.pipe(busboy);
    });
    if (file === undefined) throw new UploadRefused(400, 'no part named file');
    return await file;
  } catch (error) {
    request.unpipe(busboy);
    abort.abort();
    // Its writer is gone when this settles; the first error is the one to tell.
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
    throw new UploadRefused(415, 'expected multipart/form-data');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: LIMITS,
    });
  } catch (error) {
    throw new UploadRefused(400, 'the multipart header is not valid', { cause: error });
  }
}

async function storeFile(
  stream: BusboyFileStream,
  given: { name: string; type: string; wrote: (bytes: number) => void },
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<ReceivedFile> {
  const name = cleanName(given.name);
  const sniffer = new TypeSniffer(given.type);
  const writer = blobs.writer({ inlineMaxBytes: 0 });
  const tooLarge = new UploadRefused(413, 'the file is too large');
  try {
    assertInert(name, given.type);
    stream.once('limit', () => sniffer.destroy(tooLarge));
    sniffer.on('data', (chunk: Buffer) => given.wrote(chunk.length));
    await pipeline(stream, sniffer, writer, { signal });
    if (stream.truncated) throw tooLarge;
    if (writer.size === 0) throw new UploadRefused(400, 'the file is empty');
    const raw = await writer.commit();
    if (raw.kind !== 'file') throw new Error('a writer that keeps nothing inline made no file');
    const { blob, size, checksum } = raw;
    return { blob, size, name, type: sniffer.type, ...(checksum !== undefined && { checksum }) };
  } catch (error) {
    // What still comes of this part is read and dropped.
    stream.on('error', () => undefined).resume();
    await writer.abort();
    throw error;
  }
}

/** The last part of a path, without what terminals and headers stumble over; never empty. */
function cleanName(name: string): string {
  const base = name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').replace(/^.*[\\/]/, '');
  const trimmed = base.replace(/^[.\s]+|[.\s]+$/g, '');
  if (trimmed.length <= 200) return trimmed || 'file';
  const extension = /\.[^.]{1,16}$/.exec(trimmed)?.[0] ?? '';
  return `${trimmed.slice(0, 200 - extension.length)}${extension}`;
}

/** Trailing dots and blanks do not count: Windows drops them. */
const ACTIVE_NAMES = /\.(?:svgz?|x?html?|xht|shtml?|mht(?:ml)?|hta|htc|xslt?)[.\s]*$/i;
const ACTIVE_TYPES = /^(?:image\/svg\+xml|text\/html|application\/xhtml\+xml|text\/javascript)\b/i;
/** Kinds of text that cannot be told from the bytes, so that the client's word is taken. */
const TEXT_TYPES = new Set(['text/csv', 'text/markdown', 'text/calendar', 'text/vcard']);
/**
 * Types that browsers show or save and never run; any other one is stored as a download of no type.
 * What is made of XML is not among them: a script runs in any XML document (SVG, XHTML).
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

/** This type of file is not taken (HTTP 415). */
export class UnsupportedFile extends Error {
  override name = 'UnsupportedFile';
}

/** @throws {UnsupportedFile} by what the client says it is; the bytes are looked at later */
function assertInert(name: string, declaredType: string): void {
  if (ACTIVE_NAMES.test(name) || ACTIVE_TYPES.test(declaredType)) {
    throw new UnsupportedFile('a file that browsers would run');
  }
}

/**
 * The MIME type under which a file is kept. Other markup than SVG and HTML (an XML invoice, a log
 * with tags) is taken, and so is whatever else nobody knows: as `application/octet-stream`, which
 * browsers download and never open.
 * @throws {UnsupportedFile} SVG, HTML and XHTML, by the root element
 */
async function typeOf(head: Uint8Array, declaredType: string): Promise<string> {
  const found = await fileKind(head);
  switch (found.kind) {
    case 'page':
      throw new UnsupportedFile('browsers would run it');
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

/** Passes a file through once its first bytes have shown what it is. */
class TypeSniffer extends Transform {
  /** Known after the stream has ended. */
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
