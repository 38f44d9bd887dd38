import { type Readable, Writable } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { asBlobName, type BlobName } from '../domain/ids.ts';
import type { RawForm } from './entry.ts';
import { DurableFiles, isDiskFull, makeFolder } from '../runtime/durable-files.ts';
import type { Ballast } from './ballast.ts';
import { SpoolFull, SpoolUnavailable, StoreFailure } from './errors.ts';

/**
 * Raw forms of up to this size are stored in their row; for larger ones, files are faster
 * (measured).
 */
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

const SPACE_CHECKED_FOR_MS = 1000;
const TEMPORARY = '.tmp';
/** Writes are buffered: a system call per 16 KiB chunk costs more than the copy. */
const WRITE_BUFFER_BYTES = 256 * 1024;

export interface BlobFilesOptions {
  readonly dir: string;
  /** Nothing is accepted while less than this is free. */
  readonly reserveBytes: number;
  /** Awaited before each file is created. */
  readonly beforeFile?: () => Promise<void>;
  /** While the ballast is deleted nothing is accepted, whatever space is free. */
  readonly ballast?: Pick<Ballast, 'isGivenUp' | 'missingBytes' | 'assertHeld'>;
  /** The failure flag of the store that the files belong to. */
  readonly failure?: StoreFailure;
}

/** Stores each large raw form as a file in one flat folder. */
export class BlobFiles implements BlobStore {
  readonly #options: BlobFilesOptions;
  readonly #dir: string;
  readonly #failure: StoreFailure;
  readonly #files: DurableFiles;
  #space: { checkedAt: number; check: Promise<number> } | undefined;

  /** Creates the folder. */
  constructor(options: BlobFilesOptions) {
    const { dir, failure = new StoreFailure() } = options;
    makeFolder(dir);
    this.#options = options;
    this.#dir = dir;
    this.#failure = failure;
    this.#files = new DurableFiles((cause) => failure.fail(cause));
  }

  writer(options: { inlineMaxBytes?: number } = {}): BlobWriter {
    return new FileBlobWriter(this, options.inlineMaxBytes ?? INLINE_MAX_BYTES);
  }

  read(blob: BlobName): Readable {
    return createReadStream(this.path(blob), { highWaterMark: WRITE_BUFFER_BYTES });
  }

  path(blob: BlobName): string {
    return join(this.#dir, blob);
  }

  async remove(blob: BlobName): Promise<void> {
    try {
      await rm(this.path(blob), { force: true });
    } catch (error) {
      throw storageError(error);
    }
  }

  get neededBytes(): number {
    return this.#options.reserveBytes + (this.#options.ballast?.missingBytes ?? 0);
  }

  async assertSpace(spareBytes = 0): Promise<void> {
    const wasGivenUp = this.#options.ballast?.isGivenUp === true;
    await this.#options.ballast?.assertHeld();
    if (wasGivenUp) this.#space = undefined;
    const now = performance.now();
    if (this.#space === undefined || now - this.#space.checkedAt > SPACE_CHECKED_FOR_MS) {
      this.#space = { checkedAt: now, check: freeBytes(this.#dir) };
    }
    const free = await this.#freeBytes(this.#space.check);
    if (free < this.#options.reserveBytes + spareBytes) throw new SpoolFull('disk space is short');
  }

  async #freeBytes(check: Promise<number>): Promise<number> {
    try {
      return await check;
    } catch (error) {
      // A failed check is not cached: the next caller checks again.
      if (this.#space?.check === check) this.#space = undefined;
      throw storageError(error);
    }
  }

  /** For the writer, before each write: the space of the deleted ballast is for deliveries only. */
  assertMayWrite(): void {
    this.#failure.assertSound();
    if (this.#options.ballast?.isGivenUp === true) throw new SpoolFull('the disk is full');
  }

  /** Every file in the folder, unfinished ones included. */
  async names(): Promise<readonly BlobName[]> {
    try {
      return (await readdir(this.#dir)).map(asBlobName);
    } catch (error) {
      throw storageError(error);
    }
  }

  /** For the writer: makes a finished temporary file durable under its name. */
  async publish(handle: FileHandle, name: BlobName): Promise<void> {
    // Durability needs this order: fsync of the bytes, the rename, fsync of the folder.
    await this.#files.syncNew(handle);
    await handle.close();
    this.#failure.assertSound();
    await this.#files.rename(this.temporary(name), this.path(name));
    this.#failure.assertSound();
  }

  /** For the writer: creates its temporary file. */
  async create(name: BlobName): Promise<FileHandle> {
    await this.#options.beforeFile?.();
    return open(this.temporary(name), 'wx', 0o600);
  }

  temporary(name: BlobName): string {
    return this.path(name) + TEMPORARY;
  }
}

class FileBlobWriter extends Writable implements BlobWriter {
  readonly #files: BlobFiles;
  readonly #inlineMaxBytes: number;
  readonly #name = asBlobName(randomUUID());
  #size = 0;
  #checksum = 0;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #handle: FileHandle | undefined;
  #writing: Promise<void> = Promise.resolve();
  #done = false;

  constructor(files: BlobFiles, inlineMaxBytes: number) {
    super({ highWaterMark: WRITE_BUFFER_BYTES, decodeStrings: true });
    this.#files = files;
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
    const inline = this.#handle === undefined && this.#size <= this.#inlineMaxBytes;
    if (inline || (this.#handle !== undefined && this.#heldBytes < WRITE_BUFFER_BYTES)) {
      done();
      return;
    }
    this.#writing = this.#drain();
    this.#writing.then(
      () => done(),
      (error: unknown) => done(storageError(error)),
    );
  }

  async #drain(): Promise<void> {
    this.#files.assertMayWrite();
    this.#handle ??= await this.#files.create(this.#name);
    const chunks = this.#held;
    const bytes = this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    if (bytes === 0) return;
    const { bytesWritten } = await this.#handle.writev(chunks);
    // A short write means that the disk is full, so the remaining bytes cannot be written.
    if (bytesWritten < bytes) throw new SpoolFull('short write');
  }

  async commit(): Promise<RawForm> {
    if (this.#done) throw new SpoolUnavailable('this writer has ended');
    this.#done = true;
    if (this.#handle === undefined && this.#size <= this.#inlineMaxBytes) {
      const bytes = exactCopy(this.#held, this.#size);
      return { kind: 'inline', bytes, checksum: this.#checksum };
    }
    try {
      await this.#drain();
      const handle = this.#handle;
      if (handle === undefined) throw new SpoolUnavailable('nothing was written');
      await this.#files.publish(handle, this.#name);
    } catch (error) {
      await this.#cleanUp();
      throw storageError(error);
    }
    return { kind: 'file', blob: this.#name, size: this.#size, checksum: this.#checksum };
  }

  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.destroy();
    await this.#cleanUp();
  }

  async #cleanUp(): Promise<void> {
    this.#held = [];
    // Wait: a file that is being created has no handle yet and would remain.
    await this.#writing.catch(() => undefined);
    await this.#handle?.close().catch(() => undefined);
    if (this.#handle === undefined) return;
    // The rename may have happened although it is not durable. A file that cannot be removed here
    // has no row; the next start removes it.
    for (const path of [this.#files.temporary(this.#name), this.#files.path(this.#name)]) {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

function storageError(error: unknown): Error {
  if (error instanceof SpoolFull || error instanceof SpoolUnavailable) return error;
  return isDiskFull(error)
    ? new SpoolFull('the disk is full', { cause: error })
    : new SpoolUnavailable('the blob folder cannot be written', { cause: error });
}

/** The stored raw form differs from what was received: it was changed or damaged. */
export class RawDamaged extends Error {
  override name = 'RawDamaged';
}

/**
 * CRC-32 (ISO 3309), against disk and memory errors. It does not protect against changes: someone
 * who can change the file can change the checksum
 * (docs/decisions/0021-raw-checksum.md).
 */
const checksumOf = (bytes: Uint8Array): number => crc32(bytes);

/** Adds the checksum to an inline raw form. A file's checksum is computed while it is written. */
export const withChecksum = (raw: RawForm): RawForm =>
  raw.kind === 'file' || raw.checksum !== undefined
    ? raw
    : { ...raw, checksum: checksumOf(raw.bytes) };

/**
 * Checks a raw form before it is delivered. Reads a file once, as a stream. Raw forms without a
 * checksum, from an earlier version, pass.
 * @throws {RawDamaged} its bytes differ from those that were acknowledged
 * @throws a system error: the file is missing or cannot be read now
 */
export async function assertIntact(raw: RawForm, blobs: Pick<BlobStore, 'read'>): Promise<void> {
  if (raw.checksum === undefined) return;
  const [found, size] =
    raw.kind === 'inline'
      ? [checksumOf(raw.bytes), raw.bytes.byteLength]
      : await readThrough(blobs.read(raw.blob));
  const wanted = raw.kind === 'inline' ? size : raw.size;
  if (found === raw.checksum && size === wanted) return;
  throw new RawDamaged('its raw bytes are damaged: they are not what was received');
}

async function readThrough(chunks: AsyncIterable<Uint8Array>): Promise<[number, number]> {
  let checksum = 0;
  let size = 0;
  for await (const chunk of chunks) {
    checksum = crc32(chunk, checksum);
    size += chunk.byteLength;
  }
  return [checksum, size];
}
