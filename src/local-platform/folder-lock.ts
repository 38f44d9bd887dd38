import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { LocalPlatformUnusable } from './store/database.ts';

/**
 * One platform per folder: a second one would sweep away what the first has half uploaded, and
 * answer and send everything twice. The lock is the operating system's and ends with the process,
 * however that ends.
 */
export class FolderLock {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  /**
   * Makes the folder when it is missing.
   * @throws {LocalPlatformUnusable} another one has it
   */
  static take(folder: string): FolderLock {
    mkdirSync(folder, { recursive: true });
    const db = new Database(join(folder, 'platform.lock'), { timeout: 0 });
    try {
      db.exec('BEGIN EXCLUSIVE');
      return new FolderLock(db);
    } catch (cause) {
      db.close();
      throw new LocalPlatformUnusable(`${folder} is in use by another platform`, { cause });
    }
  }

  release(): void {
    this.#db.close();
  }
}
