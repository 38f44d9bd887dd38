import { open, rm, stat } from 'node:fs/promises';

/**
 * More than the database's log may be ahead of the database (32 MiB, `database.ts`): once the log
 * has been copied back it is written anew from its start, and outcomes need no more space.
 */
const BALLAST_BYTES = 48 * 1024 * 1024;

/**
 * A file that is there to be deleted. On a full disk even a DELETE needs space for its log, so
 * deliveries would stop with the intake; giving this up lets them go on until there is space.
 */
export class Ballast {
  readonly #file: string;
  #held = false;
  #changing: Promise<void> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the space again, if it can be had. Never rejects. */
  hold(): Promise<void> {
    return this.#change(async () => {
      if (this.#held || (await this.#isThere())) return;
      try {
        const handle = await open(this.#file, 'w', 0o600);
        try {
          const block = Buffer.alloc(1024 * 1024, 0x5f);
          for (let at = 0; at < BALLAST_BYTES; at += block.length) await handle.write(block);
          this.#held = true;
        } finally {
          await handle.close();
        }
      } catch {
        // No space for it: what was written of it must not take any either.
        await rm(this.#file, { force: true });
      }
    });
  }

  /** From an earlier process. */
  async #isThere(): Promise<boolean> {
    const { size } = await stat(this.#file).catch(() => ({ size: 0 }));
    this.#held = size === BALLAST_BYTES;
    return this.#held;
  }

  /** Gives the space to whoever needs it now. */
  drop(): Promise<void> {
    return this.#change(async () => {
      this.#held = false;
      await rm(this.#file, { force: true });
    });
  }

  #change(work: () => Promise<void>): Promise<void> {
    this.#changing = this.#changing.then(work, work);
    return this.#changing;
  }
}
