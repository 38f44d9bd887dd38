import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { SpoolUnavailable, SpoolUnusable, spoolUnusable } from './errors.ts';
import { readDatabase } from './sqlite/database-copy.ts';
import { troubleInWords } from '../domain/trouble.ts';
import { codeOf } from '../runtime/error-code.ts';

/** Whether a running gateway uses this folder: a shared lock is tried, which its exclusive one prevents. */
export function isServed(dir: string): boolean {
  const file = join(dir, 'spool.lock');
  if (!existsSync(file)) return false;
  try {
    readDatabase(file, 0, (db) => db.prepare('SELECT count(*) FROM sqlite_master').get());
    return false;
  } catch (error) {
    return codeOf(error) === 'SQLITE_BUSY';
  }
}

/** The process of the gateway that uses this folder, or that an unclean end left; undefined without one. */
export function readPid(dir: string): string | undefined {
  try {
    return readFileSync(join(dir, 'spool.pid'), 'utf8').trim().slice(0, 20);
  } catch {
    return undefined;
  }
}

/**
 * Allows one gateway per data folder. The lock is the operating system's, on `spool.lock`, so it
 * ends with the process in every case; `spool.pid` only names the holder. A pid file alone would be
 * wrong after a crash, and in containers every gateway is pid 1.
 */
export class DataFolderLock {
  readonly #db: Database.Database;
  readonly #pidFile: string;

  private constructor(db: Database.Database, pidFile: string) {
    this.#db = db;
    this.#pidFile = pidFile;
  }

  /** @throws {SpoolUnusable} another process uses this folder, or this user lacks access */
  static take(dir: string): DataFolderLock {
    const pidFile = join(dir, 'spool.pid');
    const file = join(dir, 'spool.lock');
    let db: Database.Database | undefined;
    try {
      db = new Database(file, { timeout: 0 });
      db.pragma('locking_mode = EXCLUSIVE');
      db.exec('BEGIN EXCLUSIVE');
      writeFileSync(pidFile, `${process.pid}\n`);
      return new DataFolderLock(db, pidFile);
    } catch (cause) {
      db?.close();
      if (!codeOf(cause).startsWith('SQLITE_BUSY')) throw spoolUnusable(file, cause);
      throw new SpoolUnusable(
        `${dir} is in use by another gateway (process ${readPid(dir) ?? 'unknown'}). Stop it first, or ` +
          'give this one another dataDir.',
        // A gateway that is stopping will release it.
        { cause, mayPass: true },
      );
    }
  }

  release(): void {
    try {
      rmSync(this.#pidFile, { force: true });
    } catch {
      // The pid file is informative only; the lock is released anyway.
    }
    this.#db.close();
  }
}

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
 * operating system's, as above: it ends with the process and does not depend on clocks.
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
      const db = await this.#take('BEGIN; SELECT count(*) FROM sqlite_master');
      if (db !== undefined) return db;
      if (performance.now() > deadline) throw new SpoolUnavailable(`${this.#file} is held`);
      await delay(TRIED_EVERY_MS);
    }
  }

  /** Runs `work` with the exclusive lock; `isAlone` is false if another process shares it now. */
  async whileAlone<T>(work: (isAlone: boolean) => Promise<T>): Promise<T> {
    const db = await this.#takeAlone();
    try {
      return await work(db !== undefined);
    } finally {
      db?.close();
    }
  }

  async #takeAlone(): Promise<Database.Database | undefined> {
    const db = await this.#take('BEGIN EXCLUSIVE');
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
  async #take(sql: string): Promise<Database.Database | undefined> {
    let db: Database.Database | undefined;
    try {
      db = new Database(this.#file, { timeout: 0 });
      db.exec(sql);
      return db;
    } catch (error) {
      db?.close();
      if (codeOf(error) === 'SQLITE_BUSY') return undefined;
      const { databaseTrouble } = await import('../runtime/set-up-trouble.ts');
      const trouble = databaseTrouble(this.#file, error, { dataDir: dirname(this.#file) });
      const why = trouble === undefined ? '' : `: ${troubleInWords(trouble)}`;
      throw new SpoolUnavailable(`${this.#file} cannot be locked${why}`, { cause: error });
    }
  }
}
