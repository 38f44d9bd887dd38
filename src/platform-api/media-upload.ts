import { PassThrough, pipeline, type Readable, Transform } from 'node:stream';
import FormData from 'form-data';
import { MediaSourceError } from './errors.ts';
import type { MediaPermission } from './schemas.ts';

/** Measured: uploads are twice as fast as with the default 64 KiB. */
const HIGH_WATER_MARK = 1024 * 1024;

export interface MediaFile {
  readonly name: string;
  /** MIME type. */
  readonly type: string;
  /** The exact number of bytes that the stream yields. */
  readonly size: number;
  stream(): Readable;
  /** Default: private. (The API's own default is public.) */
  readonly permission?: MediaPermission;
}

/**
 * The multipart body of an upload (API §4.8). It is streamed; only a few chunks are in memory. A file
 * that cannot be read or does not match its size fails the body and with it the request: a wrong
 * Content-Length would corrupt the next request of the connection.
 */
export class MediaUpload {
  readonly body = new PassThrough({ highWaterMark: HIGH_WATER_MARK });
  readonly headers: Readonly<Record<string, string>>;
  readonly #content: Transform | undefined;
  #failure: MediaSourceError | undefined;

  constructor(file: MediaFile) {
    if (file.size > 0) {
      this.#content = pipeline(file.stream(), exactly(file.size), (error) => {
        if (error)
          this.#failure ??= new MediaSourceError('the file was not read', { cause: error });
      });
    }
    const form = new FormData();
    form.append('permission', file.permission ?? 'private');
    form.append('file', this.#content ?? Buffer.alloc(0), {
      filename: file.name === '' ? 'file' : file.name,
      contentType: file.type === '' ? 'application/octet-stream' : file.type,
      // form-data treats a known length of 0 as unknown.
      ...(file.size > 0 && { knownLength: file.size }),
    });
    this.headers = form.getHeaders({ 'content-length': form.getLengthSync() });
    // The form is a stream of the old kind: `pipe` does not pass its errors on.
    form.on('error', (error) => this.body.destroy(error));
    form.pipe(this.body);
  }

  /** Set when the upload failed because of the file rather than the platform. */
  get failure(): MediaSourceError | undefined {
    return this.#failure;
  }

  /** Closes the file. Must be called after reading `failure`. */
  close(): void {
    this.#content?.destroy();
    this.body.destroy();
  }
}

/** Passes exactly `size` bytes through; fails with more or fewer. */
function exactly(size: number): Transform {
  let left = size;
  return new Transform({
    highWaterMark: HIGH_WATER_MARK,
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new Error('the file is longer than its size'));
      else done(null, chunk);
    },
    flush(done) {
      done(left > 0 ? new Error('the file is shorter than its size') : null);
    },
  });
}
