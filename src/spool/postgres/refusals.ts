import type { EntryId, ShopId } from '../../domain/ids.ts';
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
import type { Database } from './connection.ts';
import type { WaitingEntries } from './lanes.ts';
import { storable } from './rows.ts';
import { NOW, sqlFunction } from './schema.ts';

/** One at a time for each refusal, so that of two gateways one sees the fifth lane. */
const COUNT_REFUSAL = sqlFunction(
  'count_refusal',
  `(in_shop uuid, in_number int, in_words text, in_lane bigint, in_entry uuid, again boolean,
     OUT waits boolean, OUT is_new boolean) LANGUAGE plpgsql AS $$
   DECLARE now bigint := ${NOW.name}();
   BEGIN
     PERFORM pg_advisory_xact_lock(hashtextextended(in_shop::text, in_number));
     is_new := false;
     UPDATE refusal SET count = count + CASE WHEN again THEN 0 ELSE 1 END,
       newest_at = CASE WHEN again THEN newest_at ELSE now END
       WHERE shop = in_shop AND number = in_number;
     waits := FOUND;
     IF waits OR again THEN RETURN; END IF;
     DELETE FROM refused WHERE shop = in_shop AND at < now - ${WITHIN_MS};
     INSERT INTO refused (shop, number, lane, entry, at) VALUES (in_shop, in_number, in_lane, in_entry, now)
       ON CONFLICT (shop, number, entry) DO UPDATE SET at = EXCLUDED.at;
     DELETE FROM refused WHERE shop = in_shop AND number = in_number AND entry IN (
       SELECT entry FROM refused WHERE shop = in_shop AND number = in_number AND lane = in_lane
       ORDER BY at DESC OFFSET ${MOST_OF_LANE});
     IF (SELECT count(DISTINCT lane) FROM refused WHERE shop = in_shop AND number = in_number)
       < ${LANES_ALIKE} THEN RETURN; END IF;
     INSERT INTO refusal (shop, number, words, since, newest_at, count)
       SELECT in_shop, in_number, in_words, now, now, count(*) FROM refused
       WHERE shop = in_shop AND number = in_number;
     -- It waits; those before it are dead.
     DELETE FROM refused WHERE shop = in_shop AND number = in_number AND entry = in_entry;
     waits := true;
     is_new := true;
   END $$`,
);

export const REFUSAL_FUNCTIONS = [COUNT_REFUSAL];

interface RefusalRow extends SharedRefusal {
  readonly quiet: boolean;
}

/** Refusals that many entries got, of all gateways. `SharedRefusals` documents the methods. */
export class RefusalTable {
  readonly #database: Database;
  readonly #waiting: Pick<WaitingEntries, 'waitForShopInstead'>;

  constructor(database: Database, waiting: Pick<WaitingEntries, 'waitForShopInstead'>) {
    this.#database = database;
    this.#waiting = waiting;
  }

  async countRefusal(refusal: RefusalToCount): Promise<CountedRefusal> {
    const { shopId, number, words, lane, id, waited } = refusal;
    const [row] = await this.#database.query<{ waits: boolean; is_new: boolean }>(
      `SELECT * FROM ${COUNT_REFUSAL.name}($1, $2, $3, $4, $5, $6)`,
      [shopId, number, storable(words), laneHash({ shopId, ...lane }), id, waited],
    );
    return { waits: row?.waits === true, isNew: row?.is_new === true };
  }

  async refusals(): Promise<readonly SharedRefusal[]> {
    const rows = await this.#database.query<RefusalRow>(
      `WITH quiet AS (
         DELETE FROM refusal WHERE newest_at < ${NOW.name}() - ${QUIET_MS} RETURNING shop, number)
       SELECT shop AS "shopId", number, words, since, count, quiet.number IS NOT NULL AS quiet
       FROM refusal LEFT JOIN quiet USING (shop, number)`,
    );
    for (const { shopId, number, quiet } of rows) {
      if (quiet) await this.#waiting.waitForShopInstead(shopId, number);
    }
    return rows.filter(({ quiet }) => !quiet).map(({ quiet: _, ...refusal }) => refusal);
  }

  async endRefusal(shopId: ShopId, number: number): Promise<readonly EntryId[]> {
    const ended = await this.#database.query<{ entry: EntryId | null }>(
      `WITH ended AS (DELETE FROM refusal WHERE shop = $1 AND number = $2 RETURNING number),
         dead AS (
           DELETE FROM refused WHERE shop = $1 AND number = $2 AND EXISTS (SELECT FROM ended)
           RETURNING entry)
       SELECT entry FROM ended LEFT JOIN dead ON true`,
      [shopId, number],
    );
    if (ended.length === 0) return [];
    await this.#waiting.waitForShopInstead(shopId, number);
    return ended.flatMap(({ entry }) => entry ?? []);
  }
}
