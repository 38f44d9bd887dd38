import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { Clock } from '../../runtime/clock.ts';
import { laneHash } from '../hashes.ts';
import {
  type CountedRefusal,
  LANES_ALIKE,
  MOST_OF_LANE,
  QUIET_MS,
  type RefusalToCount,
  type SharedRefusal,
  WITHIN_MS,
} from '../refusals.ts';
import type { Db } from './database.ts';
import type { WaitingEntries } from './lanes.ts';

/** Refusals that many entries got. `SharedRefusals` documents the methods. */
export class RefusalTable {
  readonly #clock: Clock;
  readonly #waiting: Pick<WaitingEntries, 'waitForShopInstead'>;
  readonly #sql;

  constructor(db: Db, clock: Clock, waiting: Pick<WaitingEntries, 'waitForShopInstead'>) {
    this.#clock = clock;
    this.#waiting = waiting;
    this.#sql = prepare(db);
  }

  countRefusal(refusal: RefusalToCount): CountedRefusal {
    const { shopId: shop, number, words, id: entry, waited } = refusal;
    const now = this.#clock();
    const counted = { shop, number, now, first: waited ? 0 : 1 };
    if (this.#sql.again.run(counted).changes > 0) return { waits: true, isNew: false };
    if (waited) return { waits: false, isNew: false };
    this.#sql.forget.run(shop, now - WITHIN_MS);
    const lane = laneHash({ shopId: shop, ...refusal.lane });
    this.#sql.count.run(shop, number, lane, entry, now);
    this.#sql.forgetOfLane.run({ shop, number, lane });
    const { lanes, entries } = this.#sql.counted.get(shop, number) ?? { lanes: 0, entries: 0 };
    if (lanes < LANES_ALIKE) return { waits: false, isNew: false };
    this.#sql.begin.run({ shop, number, words, now, entries });
    // It waits; those before it are dead.
    this.#sql.uncount.run(shop, number, entry);
    return { waits: true, isNew: true };
  }

  refusals(): SharedRefusal[] {
    for (const { shop, number } of this.#sql.quiet.all(this.#clock() - QUIET_MS)) {
      this.#waiting.waitForShopInstead(shop, number);
    }
    return this.#sql.all.all();
  }

  endRefusal(shopId: ShopId, number: number): EntryId[] {
    if (this.#sql.end.run(shopId, number).changes === 0) return [];
    this.#waiting.waitForShopInstead(shopId, number);
    return this.#sql.dead.all(shopId, number).map(({ entry }) => entry);
  }
}

function prepare(db: Db) {
  const one = `shop = ? AND number = ?`;
  return {
    again: db.prepare(
      `UPDATE refusals SET count = count + @first,
         newest_at = CASE @first WHEN 1 THEN @now ELSE newest_at END
       WHERE shop = @shop AND number = @number`,
    ),
    forget: db.prepare(`DELETE FROM refused WHERE shop = ? AND at < ?`),
    count: db.prepare(
      `INSERT OR REPLACE INTO refused (shop, number, lane, entry, at) VALUES (?, ?, ?, ?, ?)`,
    ),
    forgetOfLane: db.prepare(
      `DELETE FROM refused WHERE shop = @shop AND number = @number AND entry IN (
         SELECT entry FROM refused WHERE shop = @shop AND number = @number AND lane = @lane
         ORDER BY at DESC LIMIT -1 OFFSET ${MOST_OF_LANE})`,
    ),
    counted: db.prepare<[string, number], { lanes: number; entries: number }>(
      `SELECT count(DISTINCT lane) AS lanes, count(*) AS entries FROM refused WHERE ${one}`,
    ),
    begin: db.prepare(
      `INSERT INTO refusals (shop, number, words, since, newest_at, count)
       VALUES (@shop, @number, @words, @now, @now, @entries)`,
    ),
    uncount: db.prepare(`DELETE FROM refused WHERE ${one} AND entry = ?`),
    quiet: db.prepare<[number], { shop: ShopId; number: number }>(
      `DELETE FROM refusals WHERE newest_at < ? RETURNING shop, number`,
    ),
    all: db.prepare<[], SharedRefusal>(
      `SELECT shop AS shopId, number, words, since, count FROM refusals`,
    ),
    end: db.prepare(`DELETE FROM refusals WHERE ${one}`),
    dead: db.prepare<[string, number], { entry: EntryId }>(
      `DELETE FROM refused WHERE ${one} RETURNING entry`,
    ),
  };
}
