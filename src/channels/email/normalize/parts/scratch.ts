import { mkdirSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes an empty folder for what is in work; what a crash has left there goes. */
export function sweepScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * What the parts of one message may stay in memory with, all together: a file each is a dozen trips
 * to the disk, and there are only so many messages in work.
 */
const IN_MEMORY_BYTES = 1024 * 1024;

/** The folder of one message: made with its first file, gone with `removeScratch`. */
export class ScratchFolder {
  readonly path: string;
  /** Bytes that may still be kept in memory instead of in a file here. */
  memoryLeft = IN_MEMORY_BYTES;
  #made: Promise<unknown> | undefined;
  #files = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** The path of a file that does not exist yet. */
  async newFile(): Promise<string> {
    this.#made ??= mkdir(this.path, { recursive: true, mode: 0o700 });
    await this.#made;
    this.#files += 1;
    return join(this.path, String(this.#files));
  }

  get used(): boolean {
    return this.#files > 0;
  }
}

export async function removeScratch(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
