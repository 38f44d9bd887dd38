import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SpoolUnusable } from './errors.ts';
import { spoolUnusable } from './sqlite/database.ts';
import { codeOf } from '../runtime/error-code.ts';

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
        `${dir} is in use by another gateway (process ${readPid(pidFile)}). Stop it first, or ` +
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

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
