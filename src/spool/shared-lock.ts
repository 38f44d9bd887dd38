import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { databaseTrouble, troubleInWords } from '../runtime/set-up-trouble.ts';
import { SpoolUnavailable } from './errors.ts';
import { codeOf } from '../runtime/error-code.ts';

/**
 * In the data folder. Shared by commands that write into `blobs/` beside a gateway, from their first
 * file to their end: a file has no row yet when it is made.
 */
export const BLOB_LOCK = 'blobs.lock';

/** Who has it alone lists a folder and removes files. */
const WAIT_MS = 60_000;
const TRIED_EVERY_MS = 50;

/**
 * Keeps those who make something that is not named yet apart from whoever removes what nobody names.
 * Makers share it from their first file until that has its name; who removes has it alone. It is the
 * operating system's, as `lock.ts`: it ends with the process, and no clock decides.
 */
export class SharedLock {
  readonly #file: string;
  #shared: Promise<Database.Database> | undefined;

  /** @param file made when it is missing; on a file system that a database can be on */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Waits while another has it alone.
   * @throws {SpoolUnavailable} that does not end
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

  /** Keeps others out meanwhile, unless one shares it now: then `isAlone` is false. */
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
      // SQLite reads a file of another user's, and locks out nobody then.
      accessSync(this.#file, constants.W_OK);
      return db;
    } catch {
      db?.close();
      return undefined;
    }
  }

  /** Lets go of what was shared. */
  async release(): Promise<void> {
    const db = await this.#shared?.catch(() => undefined);
    this.#shared = undefined;
    db?.close();
  }

  /** Undefined: another has it. */
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
