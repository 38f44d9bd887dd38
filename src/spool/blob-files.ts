import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { asBlobName, type BlobName } from '../types/ids.ts';
import { type BlobStore, type BlobWriter, INLINE_MAX_BYTES } from './blobs.ts';
import type { RawForm } from './entry.ts';
import { SpoolFull, SpoolUnavailable } from './errors.ts';
import { FolderSync } from './folder-sync.ts';

const SPACE_CHECKED_FOR_MS = 1000;
const TEMPORARY = '.tmp';
/** Fewer, larger writes: a system call per 16 KiB chunk costs more than the copy. */
const WRITE_BUFFER_BYTES = 256 * 1024;

export interface BlobFilesOptions {
  readonly dir: string;
  /** Accept nothing while less than this is free. */
  readonly reserveBytes: number;
  /** Awaited before each file is made. */
  readonly beforeFile?: () => Promise<void>;
}

/** Large raw forms as files, one each, in one flat folder. */
export class BlobFiles implements BlobStore {
  readonly #dir: string;
  readonly #reserveBytes: number;
  readonly #beforeFile: (() => Promise<void>) | undefined;
  readonly #folder: FolderSync;
  readonly #fatalListeners: ((error: Error) => void)[] = [];
  #failed: Error | undefined;
  #space: { checkedAt: number; check: Promise<number> } | undefined;

  private constructor(options: BlobFilesOptions) {
    this.#dir = options.dir;
    this.#reserveBytes = options.reserveBytes;
    this.#beforeFile = options.beforeFile;
    this.#folder = new FolderSync(options.dir);
  }

  static async open(options: BlobFilesOptions): Promise<BlobFiles> {
    await mkdir(options.dir, { recursive: true, mode: 0o700 });
    return new BlobFiles(options);
  }

  onFatal(listener: (error: Error) => void): void {
    this.#fatalListeners.push(listener);
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
    await rm(this.path(blob), { force: true });
  }

  async assertSpace(spareBytes = 0): Promise<void> {
    const now = performance.now();
    if (this.#space === undefined || now - this.#space.checkedAt > SPACE_CHECKED_FOR_MS) {
      this.#space = { checkedAt: now, check: freeBytes(this.#dir) };
    }
    const free = await this.#space.check;
    if (free < this.#reserveBytes + spareBytes) throw new SpoolFull('disk space is short');
  }

  /** Every file in the folder, unfinished ones included. */
  async names(): Promise<readonly BlobName[]> {
    return (await readdir(this.#dir)).map(asBlobName);
  }

  /** For the writer: makes a finished temporary file durable under its name. */
  async publish(handle: FileHandle, name: BlobName): Promise<void> {
    if (this.#failed !== undefined) throw unavailable(this.#failed);
    // The order is the promise: the bytes, then the name, then the folder that holds the name.
    await this.#fatalOnError(handle.datasync());
    await handle.close();
    await rename(this.path(name) + TEMPORARY, this.path(name)).catch((error: unknown) => {
      throw storageError(error);
    });
    await this.#fatalOnError(this.#folder.sync());
  }

  /** For the writer: its temporary file. */
  async create(name: BlobName): Promise<FileHandle> {
    if (this.#beforeFile !== undefined) await this.#beforeFile();
    return open(this.temporary(name), 'wx', 0o600);
  }

  temporary(name: BlobName): string {
    return this.path(name) + TEMPORARY;
  }

  /** An fsync that failed is never tried again: the kernel may have dropped the pages. */
  async #fatalOnError(sync: Promise<void>): Promise<void> {
    try {
      await sync;
    } catch (error) {
      const cause = error instanceof Error ? error : new Error('fsync failed');
      if (this.#failed === undefined) {
        this.#failed = cause;
        for (const listener of this.#fatalListeners) listener(cause);
      }
      throw unavailable(cause);
    }
  }
}

class FileBlobWriter extends Writable implements BlobWriter {
  readonly #files: BlobFiles;
  readonly #inlineMaxBytes: number;
  readonly #name = asBlobName(randomUUID());
  #size = 0;
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
    this.#handle ??= await this.#files.create(this.#name);
    const chunks = this.#held;
    const bytes = this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    if (bytes === 0) return;
    const { bytesWritten } = await this.#handle.writev(chunks);
    // A short write means that the disk is full; the bytes that are missing are not coming.
    if (bytesWritten < bytes) throw new SpoolFull('short write');
  }

  async commit(): Promise<RawForm> {
    if (this.#done) throw new SpoolUnavailable('this writer has ended');
    this.#done = true;
    if (this.#handle === undefined && this.#size <= this.#inlineMaxBytes) {
      return { kind: 'inline', bytes: concat(this.#held, this.#size) };
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
    return { kind: 'file', blob: this.#name, size: this.#size };
  }

  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.destroy();
    await this.#cleanUp();
  }

  async #cleanUp(): Promise<void> {
    this.#held = [];
    // A file that is being made right now has no handle yet, and would stay.
    await this.#writing.catch(() => undefined);
    await this.#handle?.close().catch(() => undefined);
    if (this.#handle !== undefined) await rm(this.#files.temporary(this.#name), { force: true });
  }
}

/**
 * A copy of exactly this size. A view into a larger buffer would take all of it along to the
 * database's thread: 64 KiB for each small message that came in one read.
 */
function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

function unavailable(cause: Error): SpoolUnavailable {
  return new SpoolUnavailable('the blob folder failed', { cause });
}

function storageError(error: unknown): Error {
  if (error instanceof SpoolFull || error instanceof SpoolUnavailable) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new SpoolFull('the disk is full', { cause: error })
    : new SpoolUnavailable('the blob folder cannot be written', { cause: error });
}
