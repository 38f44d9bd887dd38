import type { Readable, Writable } from 'node:stream';
import type { BlobName } from '../domain/ids.ts';
import type { RawForm } from './entry.ts';

/** Up to this many bytes a raw form lives in its row; measured: files win from about here. */
export const INLINE_MAX_BYTES = 64 * 1024;

/**
 * The chunks in a copy of exactly their size. A view into a larger buffer, a socket's read buffer of
 * 64 KiB, would take all of it along to the database's thread.
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
 * Takes a raw form as it streams in. Bytes are held in memory up to `INLINE_MAX_BYTES`, then in a
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
  /** Forgets everything written; safe at any time, any number of times. */
  abort(): Promise<void>;
}

export interface BlobStore {
  /** `inlineMaxBytes: 0` always makes a file. */
  writer(options?: { inlineMaxBytes?: number }): BlobWriter;
  read(blob: BlobName): Readable;
  /** The absolute path, for a reader in another thread. */
  path(blob: BlobName): string;
  /** Deletes a blob that no row names. */
  remove(blob: BlobName): Promise<void>;
  /**
   * Rejects with SpoolFull when less than the reserve is free, or the ballast is given up. Cheap:
   * cached for a second.
   * @param spareBytes to be free beyond the reserve, for what can wait until there is more room
   */
  assertSpace(spareBytes?: number): Promise<void>;
}
