import type { Clock } from '../../runtime/clock.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { Db } from './database.ts';
import type { ErasedKeys } from './erased-keys.ts';

interface OptOutRow {
  readonly opted_out: 0 | 1;
  readonly changed_by: string | null;
}

/**
 * Opt-outs from text messages, by SMS lane. A number that opted in again keeps a row with the
 * message that changed it. For an erased person a keyed hash is stored instead, until they send
 * START or STOP again.
 */
export class OptOutTable {
  readonly #clock: Clock;
  readonly #erased: ErasedKeys;
  readonly #sql;

  constructor(db: Db, clock: Clock, erased: ErasedKeys) {
    this.#clock = clock;
    this.#erased = erased;
    this.#sql = {
      get: db.prepare<[string, string], OptOutRow>(
        `SELECT opted_out, changed_by FROM opt_outs WHERE shop = ? AND lane = ?`,
      ),
      put: db.prepare(
        `INSERT INTO opt_outs (shop, lane, at, opted_out, changed_by) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (shop, lane) DO UPDATE SET
           at = excluded.at, opted_out = excluded.opted_out, changed_by = excluded.changed_by`,
      ),
    };
  }

  isOptedOut(shopId: ShopId, lane: string): boolean {
    const row = this.#sql.get.get(shopId, lane);
    return row === undefined ? this.#erased.isOptedOut(shopId, lane) : row.opted_out === 1;
  }

  optOut(shopId: ShopId, lane: string, messageSid: string): void {
    this.#sql.put.run(shopId, lane, this.#clock(), 1, messageSid);
  }

  optIn(shopId: ShopId, lane: string, messageSid: string): boolean {
    if (!this.isOptedOut(shopId, lane)) {
      return this.#sql.get.get(shopId, lane)?.changed_by === messageSid;
    }
    this.#sql.put.run(shopId, lane, this.#clock(), 0, messageSid);
    return true;
  }
}
