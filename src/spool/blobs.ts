import type { Readable } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { asBlobName, type BlobName } from '../domain/ids.ts';
import {
  type BlobTarget,
  type BlobWriter,
  WritableBlob,
  WRITE_BUFFER_BYTES,
} from './blob-writer.ts';
import type { RawForm } from './entry.ts';
import { codeOf } from '../runtime/error-code.ts';
import { freeBytes } from '../runtime/disk-space.ts';
import { DurableFiles, isDiskFull, makeFolder } from '../runtime/durable-files.ts';
import type { Ballast } from './ballast.ts';
import { SpoolFull, SpoolUnavailable, StoreFailure } from './errors.ts';

/** A blob as a file that can be read by path, also from another thread. */
export interface ScratchCopy {
  readonly path: string;
  /** Call it once the file is no longer read. Never rejects. */
  readonly dispose: () => Promise<void>;
}

/** The blob has been deleted. Its code is that of a missing file. */
export class BlobMissing extends Error {
  override name = 'BlobMissing';
  readonly code = 'ENOENT';
}

export interface WriterOptions {
  /** 0 always makes a blob. */
  readonly inlineMaxBytes?: number;
  /** Of a blob that is moved here from another store. */
  readonly name?: BlobName;
}

export interface BlobReader {
  /** Blobs come from another machine, so a damaged one may be damaged on its way. */
  readonly isRemote: boolean;
  /**
   * Its bytes, or the first of them. It fails with the code ENOENT when the blob was deleted, and
   * with other errors when it cannot be read now.
   * @param atMost how many bytes are read at most
   */
  read(blob: BlobName, atMost?: number): Readable;
  /**
   * A copy for a reader that needs a path. A store of files gives the file itself. Copies of a
   * process that was killed are removed at the next start.
   * @throws the errors of `read`
   */
  scratch(blob: BlobName): Promise<ScratchCopy>;
  /** @throws {SpoolUnavailable} it is unknown now */
  exists(blob: BlobName): Promise<boolean>;
}

export interface BlobStore extends BlobReader {
  writer(options?: WriterOptions): BlobWriter;
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

type BlobFolder = BlobFilesOptions & {
  readonly failure: StoreFailure;
  readonly files: DurableFiles;
};

/** Stores each large raw form as a file in one flat folder. */
export class BlobFiles implements BlobStore {
  readonly isRemote = false;
  readonly #folder: BlobFolder;
  #space: { checkedAt: number; check: Promise<number> } | undefined;

  /** Creates the folder. */
  constructor({ failure = new StoreFailure(), ...options }: BlobFilesOptions) {
    makeFolder(options.dir);
    const files = new DurableFiles((cause) => failure.fail(cause));
    this.#folder = { ...options, failure, files };
  }

  writer({ inlineMaxBytes, name }: WriterOptions = {}): BlobWriter {
    return new WritableBlob(new BlobFile(this.#folder, name), inlineMaxBytes);
  }

  read(blob: BlobName, atMost = Infinity): Readable {
    const highWaterMark = Math.min(WRITE_BUFFER_BYTES, atMost);
    return createReadStream(this.path(blob), { highWaterMark, end: atMost - 1 });
  }

  scratch(blob: BlobName): Promise<ScratchCopy> {
    return Promise.resolve({ path: this.path(blob), dispose: () => Promise.resolve() });
  }

  async exists(blob: BlobName): Promise<boolean> {
    try {
      await access(this.path(blob));
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw storageError(error);
    }
  }

  path(blob: BlobName): string {
    return join(this.#folder.dir, blob);
  }

  async remove(blob: BlobName): Promise<void> {
    try {
      await rm(this.path(blob), { force: true });
    } catch (error) {
      throw storageError(error);
    }
  }

  get neededBytes(): number {
    return this.#folder.reserveBytes + (this.#folder.ballast?.missingBytes ?? 0);
  }

  async assertSpace(spareBytes = 0): Promise<void> {
    const { dir, reserveBytes, ballast } = this.#folder;
    const wasGivenUp = ballast?.isGivenUp === true;
    await ballast?.assertHeld();
    if (wasGivenUp) this.#space = undefined;
    const now = performance.now();
    if (this.#space === undefined || now - this.#space.checkedAt > SPACE_CHECKED_FOR_MS) {
      this.#space = { checkedAt: now, check: freeBytes(dir) };
    }
    const free = await this.#freeBytes(this.#space.check);
    if (free < reserveBytes + spareBytes) throw new SpoolFull('disk space is short');
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

  /** Every file in the folder, unfinished ones included. */
  async names(): Promise<readonly BlobName[]> {
    try {
      return (await readdir(this.#folder.dir)).map(asBlobName);
    } catch (error) {
      throw storageError(error);
    }
  }
}

/** A blob that is written: a temporary file in the folder, which gets its name when it is synced. */
class BlobFile implements BlobTarget {
  readonly name: BlobName;
  readonly errorOf = storageError;
  readonly #folder: BlobFolder;
  readonly #path: string;
  readonly #temporary: string;
  #handle: FileHandle | undefined;

  constructor(folder: BlobFolder, name = asBlobName(randomUUID())) {
    this.#folder = folder;
    this.name = name;
    this.#path = join(folder.dir, name);
    this.#temporary = `${this.#path}.tmp`;
  }

  async append(chunks: readonly Uint8Array[], bytes: number): Promise<void> {
    const { failure, ballast, beforeFile } = this.#folder;
    failure.assertSound();
    // The space of the deleted ballast is for deliveries only.
    if (ballast?.isGivenUp === true) throw new SpoolFull('the disk is full');
    if (this.#handle === undefined) {
      await beforeFile?.();
      this.#handle = await open(this.#temporary, 'wx', 0o600);
    }
    if (bytes === 0) return;
    const { bytesWritten } = await this.#handle.writev(chunks);
    // A short write means that the disk is full, so the remaining bytes cannot be written.
    if (bytesWritten < bytes) throw new SpoolFull('short write');
  }

  async publish(): Promise<void> {
    if (this.#handle === undefined) throw new SpoolUnavailable('nothing was written');
    const { failure, files } = this.#folder;
    // Durability needs this order: fsync of the bytes, the rename, fsync of the folder.
    await files.syncNew(this.#handle);
    await this.#handle.close();
    failure.assertSound();
    await files.rename(this.#temporary, this.#path);
    failure.assertSound();
  }

  async discard(): Promise<void> {
    await this.#handle?.close().catch(() => undefined);
    if (this.#handle === undefined) return;
    // The rename may have happened although it is not durable. A file that cannot be removed here
    // has no row; the next start removes it.
    for (const path of [this.#temporary, this.#path]) {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }
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

/** The stored raw form cannot be read now, or is missing. */
export class RawUnreadable extends Error {
  override name = 'RawUnreadable';
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
 * Checks a raw form before it is delivered. Reads a file once, as a stream. One without a checksum passes.
 * @throws {RawDamaged} its bytes differ from those that were acknowledged
 * @throws {RawUnreadable} the blob is missing or cannot be read now
 */
export async function assertIntact(raw: RawForm, blobs: Pick<BlobReader, 'read'>): Promise<void> {
  if (raw.checksum === undefined) return;
  const [found, size] =
    raw.kind === 'inline'
      ? [checksumOf(raw.bytes), raw.bytes.byteLength]
      : await readThrough(blobs.read(raw.blob)).catch((cause: unknown) => {
          throw new RawUnreadable('its raw bytes cannot be read', { cause });
        });
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
