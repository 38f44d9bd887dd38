import type { Db } from './database.ts';

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
