import type { EntryId, ShopId } from '../../domain/ids.ts';
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
import type { Database } from './connection.ts';
import type { WaitingEntries } from './lanes.ts';
import { storable } from './rows.ts';
import { NOW, sqlFunction } from './schema.ts';

/**
 * One at a time for each refusal, so that of two gateways one sees the fifth lane. The count need not outlive a
 * crash of the server, so the others do not wait for the disk or a standby.
 */
const COUNT_REFUSAL = sqlFunction(
  'count_refusal',
  `(in_shop uuid, in_number int, in_words text, in_lane bigint, in_entry uuid, again boolean,
     OUT waits boolean, OUT is_new boolean) LANGUAGE plpgsql AS $$
   DECLARE now bigint := ${NOW.name}();
   BEGIN
     PERFORM set_config('synchronous_commit', 'off', true);
     PERFORM pg_advisory_xact_lock(hashtextextended(in_shop::text, in_number));
     is_new := false;
     UPDATE refusal SET count = count + CASE WHEN again THEN 0 ELSE 1 END,
       newest_at = CASE WHEN again THEN newest_at ELSE now END
       WHERE shop = in_shop AND number = in_number AND NOT ended;
     waits := FOUND;
     IF waits THEN RETURN; END IF;
     IF again AND EXISTS (SELECT FROM refusal WHERE shop = in_shop AND number = in_number) THEN RETURN; END IF;
     DELETE FROM refusal WHERE shop = in_shop AND number = in_number;
     INSERT INTO refused (shop, number, lane, entry, at) VALUES (in_shop, in_number, in_lane, in_entry, now)
       ON CONFLICT (shop, number, entry) DO UPDATE SET at = EXCLUDED.at;
     DELETE FROM refused WHERE shop = in_shop AND number = in_number AND entry IN (
       SELECT entry FROM refused WHERE shop = in_shop AND number = in_number AND lane = in_lane
       ORDER BY at DESC OFFSET ${MOST_OF_LANE});
     IF (SELECT count(DISTINCT lane) FROM refused
         WHERE shop = in_shop AND number = in_number AND at >= now - ${WITHIN_MS}) < ${LANES_ALIKE}
       THEN RETURN; END IF;
     INSERT INTO refusal (shop, number, words, since, newest_at, count, ended)
       SELECT in_shop, in_number, in_words, now, now, count(*), false FROM refused
       WHERE shop = in_shop AND number = in_number AND at >= now - ${WITHIN_MS};
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
           UPDATE refusal SET ended = true WHERE NOT ended AND newest_at < ${NOW.name}() - ${QUIET_MS}
           RETURNING shop, number),
         ends AS (DELETE FROM refusal WHERE ended AND newest_at < ${NOW.name}() - ${ENDED_KEPT_MS}),
         forgotten AS (DELETE FROM refused WHERE at < ${NOW.name}() - ${WITHIN_MS} AND NOT EXISTS (${WAITED_FOR}))
       SELECT shop AS "shopId", number, words, since, count, quiet.number IS NOT NULL AS quiet
       FROM refusal LEFT JOIN quiet USING (shop, number) WHERE NOT ended`,
    );
    for (const { shopId, number, quiet } of rows) {
      if (quiet) await this.#waiting.waitForShopInstead(shopId, number);
    }
    return rows.filter(({ quiet }) => !quiet).map(({ quiet: _, ...refusal }) => refusal);
  }

  async refusedBefore(shopId: ShopId, number: number): Promise<readonly EntryId[]> {
    const rows = await this.#database.query<{ entry: EntryId }>(
      `SELECT entry FROM refused WHERE shop = $1 AND number = $2 AND EXISTS (${WAITED_FOR})`,
      [shopId, number],
    );
    return rows.map(({ entry }) => entry);
  }

  async endRefusal(shopId: ShopId, number: number): Promise<void> {
    const ended = await this.#database.query(
      `WITH ended AS (
           DELETE FROM refusal WHERE shop = $1 AND number = $2 AND NOT ended RETURNING number),
         forgotten AS (DELETE FROM refused WHERE shop = $1 AND number = $2 AND EXISTS (SELECT FROM ended))
       SELECT number FROM ended`,
      [shopId, number],
    );
    if (ended.length > 0) await this.#waiting.waitForShopInstead(shopId, number);
  }
}

/** Of a row of `refused`. */
const WAITED_FOR = `SELECT FROM refusal
  WHERE refusal.shop = refused.shop AND refusal.number = refused.number AND NOT ended`;
