import { createCipheriv, randomBytes } from 'node:crypto';
import { open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DurableFiles } from '../runtime/durable-files.ts';
import { SpoolFull } from './errors.ts';

/** In the data folder. */
export const BALLAST_FILE = 'ballast';
/**
 * More than the database's log may be ahead of the database (32 MiB, `database.ts`): once the log
 * has been copied back it is written anew from its start, and outcomes need no more space.
 */
const BALLAST_BYTES = 48 * 1024 * 1024;
/** Where something has grown into the space of the last one: still more than the log. */
const LEAST_BYTES = 36 * 1024 * 1024;
/** So much more than what was given up has to be free before it is taken again. */
const MARGIN_BYTES = 8 * 1024 * 1024;
const BLOCK_BYTES = 1024 * 1024;
/** Other processes may have given it up, or made room for it. */
const LOOKED_AT_EVERY_MS = 1000;

export interface BallastOptions {
  readonly file: string;
  /** Of free space, to remain beside the ballast: what the intake needs before it accepts. */
  readonly reserveBytes: number;
  readonly files: DurableFiles;
  /** What the database's log may still grow by. */
  readonly logGrowthBytes: () => number;
}

/**
 * A file that is there to be deleted. On a full disk even a DELETE needs space for its log, so
 * deliveries would stop with the intake; giving this up lets them go on until there is space. The
 * intake takes nothing in while it is given up: the space is not for more messages.
 */
export class Ballast {
  readonly #options: BallastOptions;
  #state: 'unknown' | 'held' | 'given up' = 'unknown';
  /** Of free space beyond the reserve: so much to hold it. */
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
   * Takes it again as soon as there is space. Cheap: looks once a second.
   * @throws {SpoolFull} it is given up, and there is no space for it
   */
  async assertHeld(): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedAt > LOOKED_AT_EVERY_MS) {
      this.#lookedAt = now;
      await this.hold();
    }
    // Somebody else's look may still be under way.
    if (this.#state === 'unknown') await this.#changing;
    if (this.#state !== 'held')
      throw new SpoolFull('the disk was full; its reserve is not back yet');
  }

  /** Takes the space, if it can be had. Never rejects. */
  hold(): Promise<void> {
    return this.#change(async () => {
      this.#state = (await this.#isThere()) || (await this.#make()) ? 'held' : 'given up';
    });
  }

  /**
   * Gives the space to whoever needs it now.
   * @param settled resolves when what was taken in before this call has got space, or not
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

  /** Resolves when nothing of it is under way. */
  async settled(): Promise<void> {
    await this.#changing;
  }

  /** From an earlier process; a file system that compresses may have made it small. */
  async #isThere(): Promise<boolean> {
    const { size, blocks } = await stat(this.#options.file).catch(() => ({ size: 0, blocks: 0 }));
    return size >= LEAST_BYTES && blocks * 512 > 0.9 * size;
  }

  async #make(): Promise<boolean> {
    // A try that fails would take the last space from deliveries for a moment.
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
      // No space for it: what was written of it must not take any either.
      await rm(temporary, { force: true }).catch(() => undefined);
      return false;
    }
  }

  /** In whole blocks. */
  async #room(): Promise<number> {
    try {
      const { bavail, bsize } = await statfs(dirname(this.#options.file));
      const bytes = bavail * bsize - this.#options.reserveBytes;
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

/** With bytes that no file system can make smaller. */
async function fill(file: string, size: number, files: DurableFiles): Promise<void> {
  // Quicker than the system's random numbers.
  const random = createCipheriv('aes-128-ctr', randomBytes(16), randomBytes(16));
  const zeros = Buffer.alloc(BLOCK_BYTES);
  const handle = await open(file, 'w', 0o600);
  try {
    for (let at = 0; at < size; at += BLOCK_BYTES) {
      const { bytesWritten } = await handle.write(random.update(zeros));
      if (bytesWritten < BLOCK_BYTES) throw new SpoolFull('short write');
    }
    await files.syncNew(handle);
  } finally {
    await handle.close();
  }
}
