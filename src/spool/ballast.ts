import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { freeBytes } from '../runtime/disk-space.ts';
import type { DurableFiles } from '../runtime/durable-files.ts';
import { SpoolFull } from './errors.ts';

/** The file's name in the data folder. */
export const BALLAST_FILE = 'ballast';
/**
 * More than the WAL may grow beyond the database (32 MiB, `database.ts`). After a checkpoint the
 * WAL is written again from its start, so outcomes then need no more space.
 */
const BALLAST_BYTES = 48 * 1024 * 1024;
/** The minimum size when other files have taken some of the space; still more than the WAL. */
const LEAST_BYTES = 36 * 1024 * 1024;
/** Required free space beyond the deleted file's size before the ballast is made again. */
const MARGIN_BYTES = 8 * 1024 * 1024;
const BLOCK_BYTES = 1024 * 1024;
const PAGE_BYTES = 4096;
/** The file is checked this often: other processes may have deleted it or freed space. */
const LOOKED_AT_EVERY_MS = 1000;

export interface BallastOptions {
  readonly file: string;
  /** Free space that must remain beside the ballast: the minimum that the intake requires. */
  readonly reserveBytes: number;
  readonly files: DurableFiles;
  /** How much the WAL may still grow. */
  readonly logGrowthBytes: () => number;
}

/**
 * A file that reserves disk space and is deleted when the disk is full. Even a DELETE needs space
 * for the WAL, so on a full disk deliveries would stop with the intake; deleting this file lets
 * them continue until there is space. While it is deleted the intake accepts nothing: the space is
 * not for new messages.
 */
export class Ballast {
  readonly #options: BallastOptions;
  #state: 'unknown' | 'held' | 'given up' = 'unknown';
  /** Free space beyond the reserve that is required to make the ballast again. */
  #neededBytes = LEAST_BYTES;
  #lookedAt = -Infinity;
  #changing: Promise<void> = Promise.resolve();

  constructor(options: BallastOptions) {
    this.#options = options;
  }

  get isGivenUp(): boolean {
    return this.#state === 'given up';
  }

  get missingBytes(): number {
    return this.isGivenUp ? this.#neededBytes : 0;
  }

  /**
   * Makes the file again as soon as there is space. Cheap: checks once a second.
   * @throws {SpoolFull} the file is deleted, and there is no space for it
   */
  async assertHeld(): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedAt > LOOKED_AT_EVERY_MS) {
      this.#lookedAt = now;
      await this.hold();
    }
    // Another caller's check may still be running.
    if (this.#state === 'unknown') await this.#changing;
    if (this.#state !== 'held')
      throw new SpoolFull('the disk was full; its reserve is not back yet');
  }

  /** Makes the file if there is space. Never rejects. */
  hold(): Promise<void> {
    return this.#change(async () => {
      this.#state = (await this.#isThere()) || (await this.#make()) ? 'held' : 'given up';
    });
  }

  /**
   * Deletes the file, which frees its space for deliveries.
   * @param settled resolves when every call that was accepted before this one has finished, with or
   * without space
   */
  drop(settled: () => Promise<unknown>): Promise<void> {
    this.#state = 'given up';
    return this.#change(async () => {
      this.#state = 'given up';
      await settled().catch(() => undefined);
      const { size } = await stat(this.#options.file).catch(() => ({ size: LEAST_BYTES }));
      this.#neededBytes = size + MARGIN_BYTES + this.#options.logGrowthBytes();
      await rm(this.#options.file, { force: true });
    });
  }

  /** Resolves when no change of the file is in progress. */
  async settled(): Promise<void> {
    await this.#changing;
  }

  /** Whether an earlier process left the file; a compressing file system may have shrunk it. */
  async #isThere(): Promise<boolean> {
    const { size, blocks } = await stat(this.#options.file).catch(() => ({ size: 0, blocks: 0 }));
    return size >= LEAST_BYTES && blocks * 512 > 0.9 * size;
  }

  async #make(): Promise<boolean> {
    // Checked first: a failed attempt would briefly take the last space from deliveries.
    const room = await this.#room();
    if (room < this.#neededBytes) return false;
    const bytes = Math.min(BALLAST_BYTES, room);
    const { file, files } = this.#options;
    const temporary = `${file}.part`;
    try {
      await fill(temporary, bytes, files);
      await rename(temporary, file);
      return true;
    } catch {
      // Not enough space: the partial file must not take any either.
      await rm(temporary, { force: true }).catch(() => undefined);
      return false;
    }
  }

  /** The space for the ballast, in whole blocks. */
  async #room(): Promise<number> {
    try {
      const bytes = (await freeBytes(dirname(this.#options.file))) - this.#options.reserveBytes;
      return Math.floor(bytes / BLOCK_BYTES) * BLOCK_BYTES;
    } catch {
      return 0;
    }
  }

  #change(work: () => Promise<void>): Promise<void> {
    this.#changing = this.#changing.then(work, work);
    return this.#changing;
  }
}

/** Fills the file with random bytes and numbered pages, so that no file system can compress or share them. */
async function fill(file: string, size: number, files: DurableFiles): Promise<void> {
  const block = randomBytes(BLOCK_BYTES);
  const handle = await open(file, 'w', 0o600);
  try {
    for (let at = 0; at < size; at += BLOCK_BYTES) {
      for (let page = 0; page < BLOCK_BYTES; page += PAGE_BYTES) {
        block.writeUInt32LE((at + page) / PAGE_BYTES, page);
      }
      const { bytesWritten } = await handle.write(block);
      if (bytesWritten < BLOCK_BYTES) throw new SpoolFull('short write');
    }
    await files.syncNew(handle);
  } finally {
    await handle.close();
  }
}
