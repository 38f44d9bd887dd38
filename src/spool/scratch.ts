import { randomUUID } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDiskFull, makeFolder } from '../runtime/durable-files.ts';
import type { ScratchCopy } from './blobs.ts';
import { SpoolFull } from './errors.ts';

/** Files of this process that may be lost: copies of blobs that are stored elsewhere. */
export class ScratchFiles {
  readonly #folder: string;

  /** @param folder of this process alone; what an earlier one has left there is removed */
  constructor(folder: string) {
    rmSync(folder, { recursive: true, force: true });
    makeFolder(folder);
    this.#folder = folder;
  }

  async create(): Promise<{ path: string; handle: FileHandle }> {
    const path = join(this.#folder, randomUUID());
    return { path, handle: await open(path, 'wx', 0o600) };
  }

  /** Removes the folder. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A file that cannot be removed now is removed at the next start. */
  remove(path: string): Promise<void> {
    return rm(path, { force: true }).catch(() => undefined);
  }

  /** @throws {SpoolFull} the disk is full; or the error of `bytes` */
  async copy(bytes: Readable): Promise<ScratchCopy> {
    const path = join(this.#folder, randomUUID());
    const dispose = () => this.remove(path);
    try {
      await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    } catch (error) {
      await dispose();
      throw isDiskFull(error) ? new SpoolFull('the disk is full', { cause: error }) : error;
    }
    return { path, dispose };
  }
}
