import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { databaseTrouble, SetUpUnusable, troubleInWords } from '../../runtime/set-up-trouble.ts';
import { normalAddress, normalPhone } from '../addresses.ts';
import { MIGRATIONS } from './migrations.ts';

export type Db = Database.Database;

/** The platform's own database cannot be used. */
export class LocalPlatformUnusable extends SetUpUnusable {
  override name = 'LocalPlatformUnusable';
}

/**
 * Opens the database and brings its schema up to date. `synchronous = FULL` is set on every open
 * and read back: an existing WAL database opens at NORMAL, and an answered 201 would not survive
 * a power cut.
 * @throws {LocalPlatformUnusable} damaged, or written by a newer version
 */
export function openDatabase(file: string): Db {
  let db: Db | undefined;
  try {
    db = new Database(file, { timeout: 5000 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // What is deleted or replaced is overwritten: docs/decisions/0014-how-bytes-vanish.md.
    db.pragma('secure_delete = ON');
    db.pragma('cache_size = -16384');
    db.pragma('wal_autocheckpoint = 4000');
    if (db.pragma('synchronous', { simple: true }) !== 2) {
      throw new LocalPlatformUnusable(`${file} refused full synchronous writes`);
    }
    db.function('normal_phone', { deterministic: true }, (text) => normalPhone(String(text)));
    db.function('normal_address', { deterministic: true }, (text) => normalAddress(String(text)));
    migrate(db, file);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof LocalPlatformUnusable) throw error;
    const trouble = databaseTrouble(file, error, { dataDir: dirname(dirname(file)) });
    if (trouble !== undefined) {
      throw new LocalPlatformUnusable(troubleInWords(trouble), {
        cause: error,
        mayPass: trouble.mayPass,
      });
    }
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new LocalPlatformUnusable(`${file} cannot be used: ${reason}`, { cause: error });
  }
}

function migrate(db: Db, file: string): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > MIGRATIONS.length) {
      throw new LocalPlatformUnusable(
        `${file} was written by a newer version (schema ${version}; this program knows ` +
          `${MIGRATIONS.length})`,
      );
    }
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

interface Pending {
  readonly work: () => void;
  readonly committed: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes that arrive in the same turn of the event loop share one transaction and one fsync.
 * Nothing waits for company: a lone write is committed at the end of its own turn.
 *
 * A write that throws is rolled back alone and rejects alone; a commit that fails rejects all.
 */
export class GroupCommit {
  readonly #db: Db;
  #pending: Pending[] = [];
  #scheduled = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Resolves with what `work` returned once it is durable. `work` must be synchronous. */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      this.#pending.push({
        work: () => (result = { value: work() }),
        committed: () => {
          if (result !== undefined) resolve(result.value);
        },
        failed: reject,
      });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.flush());
    });
  }

  /** Commits what is waiting, now. */
  flush(): void {
    this.#scheduled = false;
    const batch = this.#pending;
    this.#pending = [];
    if (batch.length === 0) return;
    let done: Pending[] = [];
    try {
      // Inside of a transaction, better-sqlite3 makes a savepoint of the inner one.
      const one = this.#db.transaction((pending: Pending) => pending.work());
      this.#db
        .transaction(() => {
          done = batch.filter((pending) => {
            try {
              one(pending);
              return true;
            } catch (error) {
              // SQLite itself ends the transaction on a full disk or an I/O error.
              if (!this.#db.inTransaction) throw error;
              pending.failed(error);
              return false;
            }
          });
        })
        .immediate();
    } catch (error) {
      for (const pending of batch) pending.failed(error);
      return;
    }
    for (const pending of done) pending.committed();
  }
}

/**
 * Allows one platform per folder: a second one would delete the unfinished uploads of the first, and
 * answer and send every message twice. The operating system holds the lock and releases it when the
 * process ends, even by a crash.
 */
export class FolderLock {
  readonly #db: Db;

  private constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Creates the folder if it is missing.
   * @throws {LocalPlatformUnusable} another platform uses the folder
   */
  static take(folder: string): FolderLock {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'platform.lock');
    let db: Db | undefined;
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
