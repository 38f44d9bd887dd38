import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SpoolUnusable } from './errors.ts';

/**
 * One gateway per data folder. The lock is the operating system's, on `spool.lock`, and so ends
 * with the process however it ends; `spool.pid` only says who holds it. A pid file alone would
 * lie after a crash, and in containers every gateway is pid 1.
 */
export class DataFolderLock {
  readonly #db: Database.Database;
  readonly #pidFile: string;

  private constructor(db: Database.Database, pidFile: string) {
    this.#db = db;
    this.#pidFile = pidFile;
  }

  /** @throws {SpoolUnusable} another process serves this folder */
  static take(dir: string): DataFolderLock {
    const pidFile = join(dir, 'spool.pid');
    const db = new Database(join(dir, 'spool.lock'), { timeout: 0 });
    try {
      db.pragma('locking_mode = EXCLUSIVE');
      db.exec('BEGIN EXCLUSIVE');
    } catch (cause) {
      db.close();
      throw new SpoolUnusable(
        `${dir} is in use by another gateway (process ${readPid(pidFile)}). Stop it first, or ` +
          'give this one another dataDir.',
        { cause },
      );
    }
    writeFileSync(pidFile, `${process.pid}\n`);
    return new DataFolderLock(db, pidFile);
  }

  release(): void {
    try {
      rmSync(this.#pidFile, { force: true });
    } catch {
      // It only tells; the lock is let go of all the same.
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
