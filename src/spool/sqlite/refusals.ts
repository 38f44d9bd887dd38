import type { EntryId, ShopId } from '../../domain/ids.ts';
import type { Clock } from '../../runtime/clock.ts';
import { laneHash } from '../hashes.ts';
import {
  type CountedRefusal,
  ENDED_KEPT_MS,
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
    if (waited && this.#sql.ended.get(shop, number) !== undefined) {
      return { waits: false, isNew: false };
    }
    this.#sql.forgetEnd.run(shop, number);
    const lane = laneHash({ shopId: shop, ...refusal.lane });
    this.#sql.count.run(shop, number, lane, entry, now);
    this.#sql.forgetOfLane.run({ shop, number, lane });
    const { lanes = 0, entries = 0 } = this.#sql.counted.get(shop, number, now - WITHIN_MS) ?? {};
    if (lanes < LANES_ALIKE) return { waits: false, isNew: false };
    this.#sql.begin.run({ shop, number, words, now, entries });
    // It waits; those before it are dead.
    this.#sql.uncount.run(shop, number, entry);
    return { waits: true, isNew: true };
  }

  refusals(): SharedRefusal[] {
    const now = this.#clock();
    for (const { shop, number } of this.#sql.quiet.all(now - QUIET_MS)) {
      this.#waiting.waitForShopInstead(shop, number);
    }
    this.#sql.forgetEnds.run(now - ENDED_KEPT_MS);
    this.#sql.forget.run(now - WITHIN_MS);
    return this.#sql.all.all();
  }

  refusedBefore(shopId: ShopId, number: number): EntryId[] {
    return this.#sql.dead.all(shopId, number).map(({ entry }) => entry);
  }

  endRefusal(shopId: ShopId, number: number): void {
    if (this.#sql.end.run(shopId, number).changes === 0) return;
    this.#sql.forgetDead.run(shopId, number);
    this.#waiting.waitForShopInstead(shopId, number);
  }
}

function prepare(db: Db) {
  const one = `shop = ? AND number = ?`;
  const waitedFor = `SELECT 1 FROM refusals
    WHERE refusals.shop = refused.shop AND refusals.number = refused.number AND ended = 0`;
  return {
    again: db.prepare(
      `UPDATE refusals SET count = count + @first,
         newest_at = CASE @first WHEN 1 THEN @now ELSE newest_at END
       WHERE shop = @shop AND number = @number AND ended = 0`,
    ),
    ended: db.prepare<[string, number]>(`SELECT 1 FROM refusals WHERE ${one} AND ended = 1`),
    forgetEnd: db.prepare(`DELETE FROM refusals WHERE ${one} AND ended = 1`),
    forgetEnds: db.prepare(`DELETE FROM refusals WHERE ended = 1 AND newest_at < ?`),
    forget: db.prepare(`DELETE FROM refused WHERE at < ? AND NOT EXISTS (${waitedFor})`),
    count: db.prepare(
      `INSERT OR REPLACE INTO refused (shop, number, lane, entry, at) VALUES (?, ?, ?, ?, ?)`,
    ),
    forgetOfLane: db.prepare(
      `DELETE FROM refused WHERE shop = @shop AND number = @number AND entry IN (
         SELECT entry FROM refused WHERE shop = @shop AND number = @number AND lane = @lane
         ORDER BY at DESC LIMIT -1 OFFSET ${MOST_OF_LANE})`,
    ),
    counted: db.prepare<[string, number, number], { lanes: number; entries: number }>(
      `SELECT count(DISTINCT lane) AS lanes, count(*) AS entries FROM refused WHERE ${one} AND at >= ?`,
    ),
    begin: db.prepare(
      `INSERT INTO refusals (shop, number, words, since, newest_at, count, ended)
       VALUES (@shop, @number, @words, @now, @now, @entries, 0)`,
    ),
    uncount: db.prepare(`DELETE FROM refused WHERE ${one} AND entry = ?`),
    quiet: db.prepare<[number], { shop: ShopId; number: number }>(
      `UPDATE refusals SET ended = 1 WHERE ended = 0 AND newest_at < ? RETURNING shop, number`,
    ),
    all: db.prepare<[], SharedRefusal>(
      `SELECT shop AS shopId, number, words, since, count FROM refusals WHERE ended = 0`,
    ),
    dead: db.prepare<[string, number], { entry: EntryId }>(
      `SELECT entry FROM refused WHERE ${one} AND EXISTS (${waitedFor})`,
    ),
    end: db.prepare(`DELETE FROM refusals WHERE ${one} AND ended = 0`),
    forgetDead: db.prepare(`DELETE FROM refused WHERE ${one}`),
  };
}
