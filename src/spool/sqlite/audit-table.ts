import type { Clock } from '../../runtime/clock.ts';
import type { AuditLine, NewAuditLine } from '../operator-store.ts';
import type { Db } from './database.ts';

/** What operators did. Lines are only ever added; `retention.ts` sweeps the old ones. */
export class AuditTable {
  readonly #clock: Clock;
  readonly #sql;

  constructor(db: Db, clock: Clock) {
    this.#clock = clock;
    this.#sql = {
      add: db.prepare(
        `INSERT INTO audit (at, who, action, target, outcome) VALUES (?, ?, ?, ?, ?)`,
      ),
      before: db.prepare<[number, number], AuditLine>(
        `SELECT no, at, who, action, target, outcome FROM audit
         WHERE no < ? ORDER BY no DESC LIMIT ?`,
      ),
    };
  }

  add({ who, action, target, outcome }: NewAuditLine): void {
    this.#sql.add.run(this.#clock(), who, action, target, outcome);
  }

  /** Newest first. */
  lines(page: { before?: number; limit: number }): AuditLine[] {
    return this.#sql.before.all(page.before ?? Number.MAX_SAFE_INTEGER, page.limit);
  }
}
