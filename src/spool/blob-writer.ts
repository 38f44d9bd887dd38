import { Writable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { BlobName } from '../domain/ids.ts';
import type { RawForm } from './entry.ts';
import { SpoolUnavailable } from './errors.ts';

/**
 * Raw forms of up to this size are stored in their row; for larger ones, files are faster
 * (measured).
 */
export const INLINE_MAX_BYTES = 64 * 1024;

/** Writes are buffered: a system call or statement per 16 KiB chunk costs more than the copy. */
export const WRITE_BUFFER_BYTES = 256 * 1024;

/**
 * Copies the chunks into one array of exactly their size. A view into a larger buffer, such as a
 * socket's 64 KiB read buffer, would send the whole buffer to the database's thread.
 */
export function exactCopy(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/**
 * Receives a raw form as a stream. Bytes are kept in memory up to `INLINE_MAX_BYTES`, and beyond
 * that are written where the store keeps its blobs.
 */
export interface BlobWriter extends Writable {
  /** Bytes written so far. */
  readonly size: number;
  /**
   * Call after 'finish'. Resolves once an entry may name the blob: acknowledging the entry then
   * promises its bytes, too (file: fsync, rename, fsync of the folder; inline: held until the row's
   * commit).
   * @throws {SpoolFull} {SpoolUnavailable}
   */
  commit(): Promise<RawForm>;
  /** Discards everything written. Can be called at any time and repeatedly. */
  abort(): Promise<void>;
}

/** What a writer has counted when all bytes are written. */
export interface BlobContent {
  readonly size: number;
  readonly checksum: number;
}

/** Where a writer puts one blob that is too large for its row. The calls never overlap. */
export interface BlobTarget {
  readonly name: BlobName;
  /** Writes further bytes; the first call creates the blob. */
  append(chunks: readonly Uint8Array[], bytes: number): Promise<void>;
  /** Makes the complete blob one that an entry may name. */
  publish(content: BlobContent): Promise<void>;
  /** Removes whatever `append` and `publish` have left. Never rejects. */
  discard(): Promise<void>;
  /** The error that the writer's caller gets for any other. */
  errorOf(error: unknown): Error;
}

export class WritableBlob extends Writable implements BlobWriter {
  readonly #target: BlobTarget;
  readonly #inlineMaxBytes: number;
  #size = 0;
  #checksum = 0;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #hasSpilled = false;
  #writing: Promise<void> = Promise.resolve();
  #done = false;

  constructor(target: BlobTarget, inlineMaxBytes = INLINE_MAX_BYTES) {
    super({ highWaterMark: WRITE_BUFFER_BYTES, decodeStrings: true });
    this.#target = target;
    this.#inlineMaxBytes = inlineMaxBytes;
  }

  get size(): number {
    return this.#size;
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    this.#size += chunk.byteLength;
    this.#checksum = crc32(chunk, this.#checksum);
    this.#held.push(chunk);
    this.#heldBytes += chunk.byteLength;
    const inline = !this.#hasSpilled && this.#size <= this.#inlineMaxBytes;
    if (inline || (this.#hasSpilled && this.#heldBytes < WRITE_BUFFER_BYTES)) {
      done();
      return;
    }
    this.#writing = this.#drain();
    this.#writing.then(
      () => done(),
      (error: unknown) => done(this.#target.errorOf(error)),
    );
  }

  async #drain(): Promise<void> {
    this.#hasSpilled = true;
    const chunks = this.#held;
    const bytes = this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    await this.#target.append(chunks, bytes);
  }

  async commit(): Promise<RawForm> {
    if (this.#done) throw new SpoolUnavailable('this writer has ended');
    this.#done = true;
    const content = { size: this.#size, checksum: this.#checksum };
    if (!this.#hasSpilled && this.#size <= this.#inlineMaxBytes) {
      const bytes = exactCopy(this.#held, this.#size);
      return { kind: 'inline', bytes, checksum: content.checksum };
    }
    try {
      await this.#drain();
      await this.#target.publish(content);
    } catch (error) {
      await this.#cleanUp();
      throw this.#target.errorOf(error);
    }
    return { kind: 'file', blob: this.#target.name, ...content };
  }

  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.destroy();
    await this.#cleanUp();
  }

  async #cleanUp(): Promise<void> {
    this.#held = [];
    // Wait: a blob that is being created now would remain.
    await this.#writing.catch(() => undefined);
    if (this.#hasSpilled) await this.#target.discard();
  }
}
