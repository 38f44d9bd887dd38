import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { updateSchema } from '../../runtime/sqlite-schema.ts';
import { SetUpUnusable, unusable } from '../../domain/trouble.ts';
import { databaseTrouble } from '../../runtime/set-up-trouble.ts';
import { PLATFORM_SCHEMA } from './schema.ts';

export type Db = Database.Database;

/** The platform's database cannot be used. */
export class LocalPlatformUnusable extends SetUpUnusable {
  override name = 'LocalPlatformUnusable';
}

/**
 * Opens the database and updates its schema. `synchronous = FULL` is set and read back on every
 * open: an existing WAL database opens with NORMAL, and then a power cut would lose messages that
 * were answered with 201.
 * @throws {LocalPlatformUnusable} the database is damaged, or its schema is not supported
 */
export function openDatabase(file: string): Db {
  let db: Db | undefined;
  try {
    db = new Database(file, { timeout: 5000 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // Overwrites deleted data with zeros: docs/decisions/0014-erasing-data-from-disk.md.
    db.pragma('secure_delete = ON');
    db.pragma('cache_size = -16384');
    db.pragma('wal_autocheckpoint = 4000');
    if (db.pragma('synchronous', { simple: true }) !== 2) {
      throw new LocalPlatformUnusable(`${file} refused full synchronous writes`);
    }
    const mismatch = updateSchema(db, file, PLATFORM_SCHEMA);
    if (mismatch !== undefined) throw new LocalPlatformUnusable(mismatch);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof LocalPlatformUnusable) throw error;
    const trouble = databaseTrouble(file, error, { dataDir: dirname(dirname(file)) });
    if (trouble !== undefined) throw unusable(trouble, error, LocalPlatformUnusable);
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new LocalPlatformUnusable(`${file} cannot be used: ${reason}`, { cause: error });
  }
}

/* oxlint-disable typescript/no-unnecessary-type-parameters -- only the caller knows the SQL's types */
/** Prepared statements as functions of their parameters. */
export function statements(db: Db) {
  return {
    /** The first row. */
    row: <Values extends unknown[], Row>(sql: string) => {
      const statement = db.prepare<Values, Row>(sql);
      return (...values: Values): Row | undefined => statement.get(...values);
    },
    rows: <Values extends unknown[], Row>(sql: string) => {
      const statement = db.prepare<Values, Row>(sql);
      return (...values: Values): Row[] => statement.all(...values);
    },
    /** The first column of the first row; undefined without a row, or if it is null. */
    value: <Values extends unknown[], Value>(sql: string) => {
      const statement = db.prepare<Values, Value | null>(sql).pluck();
      return (...values: Values): Value | undefined => statement.get(...values) ?? undefined;
    },
    /** The same, of a number; 0 instead of undefined. */
    number: <Values extends unknown[]>(sql: string) => {
      const statement = db.prepare<Values, number | null>(sql).pluck();
      return (...values: Values): number => statement.get(...values) ?? 0;
    },
    /** The first column of every row. */
    column: <Values extends unknown[], Value>(sql: string) => {
      const statement = db.prepare<Values, Value>(sql).pluck();
      return (...values: Values): Value[] => statement.all(...values);
    },
    /** Whether there is a row. */
    has: <Values extends unknown[]>(sql: string) => {
      const statement = db.prepare<Values>(sql);
      return (...values: Values): boolean => statement.get(...values) !== undefined;
    },
    /** The number of rows that it changed. */
    run: <Values extends unknown[]>(sql: string) => {
      const statement = db.prepare<Values>(sql);
      return (...values: Values): number => statement.run(...values).changes;
    },
    /** The row, which must be there. */
    one: <Values extends unknown[], Row>(sql: string) => {
      const statement = db.prepare<Values, Row>(sql);
      return (...values: Values): Row => {
        const row = statement.get(...values);
        if (row === undefined) throw new Error(`no row: ${sql}`);
        return row;
      };
    },
  };
}
/* oxlint-enable typescript/no-unnecessary-type-parameters */

interface Pending {
  readonly work: () => void;
  readonly committed: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes of the same turn of the event loop share one transaction and one fsync. The transaction is
 * committed at the end of the turn, also when there is only one write.
 *
 * A write that throws is rolled back and rejected by itself; a failed commit rejects all writes.
 */
export class GroupCommit {
  readonly #db: Db;
  #pending: Pending[] = [];
  #scheduled = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Resolves with the result of `work` once it is durable. `work` must be synchronous. */
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

  /** Commits the pending writes now. */
  flush(): void {
    this.#scheduled = false;
    const batch = this.#pending;
    this.#pending = [];
    if (batch.length === 0) return;
    let done: Pending[] = [];
    try {
      // better-sqlite3 turns a nested transaction into a savepoint.
      const one = this.#db.transaction((pending: Pending) => pending.work());
      this.#db
        .transaction(() => {
          done = batch.filter((pending) => {
            try {
              one(pending);
              return true;
            } catch (error) {
              // SQLite rolls the transaction back on a full disk or an I/O error.
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
      if (trouble !== undefined) throw unusable(trouble, cause, LocalPlatformUnusable);
      const message = `${folder} is in use by another platform`;
      throw new LocalPlatformUnusable(message, { cause, mayPass: true });
    }
  }

  release(): void {
    this.#db.close();
  }
}
