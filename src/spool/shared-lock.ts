import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { databaseTrouble, troubleInWords } from '../runtime/set-up-trouble.ts';
import { SpoolUnavailable } from './errors.ts';
import { codeOf } from '../runtime/error-code.ts';

/**
 * The lock file in the data folder. Commands that write into `blobs/` beside a gateway share it
 * from their first file to their end, because a new file has no row yet.
 */
export const BLOB_LOCK = 'blobs.lock';

/** How long to wait while another process holds the lock exclusively and removes files. */
const WAIT_MS = 60_000;
const TRIED_EVERY_MS = 50;

/**
 * Prevents a clean-up from removing files that are not referenced yet. Writers share the lock from
 * their first file until that file is referenced; a clean-up holds it exclusively. The lock is the
 * operating system's, as in `lock.ts`: it ends with the process and does not depend on clocks.
 */
export class SharedLock {
  readonly #file: string;
  #shared: Promise<Database.Database> | undefined;

  /** @param file created when missing; on a file system that supports databases */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Takes the shared lock; waits while another process holds it exclusively.
   * @throws {SpoolUnavailable} the exclusive lock is not released in time
   */
  async share(): Promise<void> {
    this.#shared ??= this.#wait();
    await this.#shared;
  }

  async #wait(): Promise<Database.Database> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const db = this.#take('BEGIN; SELECT count(*) FROM sqlite_master');
      if (db !== undefined) return db;
      if (performance.now() > deadline) throw new SpoolUnavailable(`${this.#file} is held`);
      await delay(TRIED_EVERY_MS);
    }
  }

  /** Runs `work` with the exclusive lock; `isAlone` is false if another process shares it now. */
  async whileAlone<T>(work: (isAlone: boolean) => Promise<T>): Promise<T> {
    const db = this.#takeAlone();
    try {
      return await work(db !== undefined);
    } finally {
      db?.close();
    }
  }

  #takeAlone(): Database.Database | undefined {
    const db = this.#take('BEGIN EXCLUSIVE');
    try {
      // SQLite opens a file that this user may not write as read-only, and then locks out nobody.
      accessSync(this.#file, constants.W_OK);
      return db;
    } catch {
      db?.close();
      return undefined;
    }
  }

  /** Releases the shared lock. */
  async release(): Promise<void> {
    const db = await this.#shared?.catch(() => undefined);
    this.#shared = undefined;
    db?.close();
  }

  /** Undefined: another process holds it. */
  #take(sql: string): Database.Database | undefined {
    let db: Database.Database | undefined;
    try {
      db = new Database(this.#file, { timeout: 0 });
      db.exec(sql);
      return db;
    } catch (error) {
      db?.close();
      if (codeOf(error) === 'SQLITE_BUSY') return undefined;
      const trouble = databaseTrouble(this.#file, error, { dataDir: dirname(this.#file) });
      const why = trouble === undefined ? '' : `: ${troubleInWords(trouble)}`;
      throw new SpoolUnavailable(`${this.#file} cannot be locked${why}`, { cause: error });
    }
  }
}
