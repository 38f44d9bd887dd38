import type { Readable, Writable } from 'node:stream';
import type { BlobName } from '../domain/ids.ts';
import type { RawForm } from './entry.ts';

/** Up to this size raw forms are stored in their row; measured: above it files are faster. */
export const INLINE_MAX_BYTES = 64 * 1024;

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
 * Receives a raw form as a stream. Bytes are kept in memory up to `INLINE_MAX_BYTES`, then in a
 * temporary file in the blob folder.
 */
export interface BlobWriter extends Writable {
  /** Bytes written so far. */
  readonly size: number;
  /**
   * Call after 'finish'. Resolves once the bytes are durable (file: fsync, rename, fsync of the
   * folder; inline: held until the row's commit).
   * @throws {SpoolFull} {SpoolUnavailable}
   */
  commit(): Promise<RawForm>;
  /** Discards everything written. Can be called at any time and repeatedly. */
  abort(): Promise<void>;
}

export interface BlobStore {
  /** `inlineMaxBytes: 0` always creates a file. */
  writer(options?: { inlineMaxBytes?: number }): BlobWriter;
  read(blob: BlobName): Readable;
  /** The absolute path, for a reader in another thread. */
  path(blob: BlobName): string;
  /** Deletes a blob that no row names. */
  remove(blob: BlobName): Promise<void>;
  /**
   * Rejects with SpoolFull when less than the reserve is free, or the ballast is deleted. Cheap:
   * cached for a second.
   * @param spareBytes required free space beyond the reserve, for data that can wait until there is
   * more
   */
  assertSpace(spareBytes?: number): Promise<void>;
}
