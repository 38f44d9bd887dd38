import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { databaseTrouble } from '../runtime/database-trouble.ts';
import { troubleInWords } from '../runtime/set-up-unusable.ts';
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
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'platform.lock');
    let db: Database.Database | undefined;
    try {
      db = new Database(file, { timeout: 0 });
      db.exec('BEGIN EXCLUSIVE');
      return new FolderLock(db);
    } catch (cause) {
      db?.close();
      const trouble = databaseTrouble(file, cause, { dataDir: dirname(folder) });
      const why = trouble && troubleInWords(trouble);
      throw new LocalPlatformUnusable(why ?? `${folder} is in use by another platform`, {
        cause,
        mayPass: trouble?.mayPass ?? true,
      });
    }
  }

  release(): void {
    this.#db.close();
  }
}
