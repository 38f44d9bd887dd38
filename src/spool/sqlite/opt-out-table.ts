import type { Clock } from '../../runtime/clock.ts';
import type { ShopId } from '../../types/ids.ts';
import type { Db } from './database.ts';

/** Who has opted out of texts, by SMS lane. */
export class OptOutTable {
  readonly #clock: Clock;
  readonly #sql;

  constructor(db: Db, clock: Clock) {
    this.#clock = clock;
    this.#sql = {
      get: db.prepare<[string, string]>(`SELECT 1 FROM opt_outs WHERE shop = ? AND lane = ?`),
      add: db.prepare(
        `INSERT INTO opt_outs (shop, lane, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
      ),
      remove: db.prepare(`DELETE FROM opt_outs WHERE shop = ? AND lane = ?`),
    };
  }

  isOptedOut(shopId: ShopId, lane: string): boolean {
    return this.#sql.get.get(shopId, lane) !== undefined;
  }

  setOptedOut(shopId: ShopId, lane: string, optedOut: boolean): void {
    if (optedOut) this.#sql.add.run(shopId, lane, this.#clock());
    else this.#sql.remove.run(shopId, lane);
  }
}
