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
  type SharedRefusals,
  WITHIN_MS,
} from '../refusals.ts';
import { type Dialect, type Operation, rowsOf, statement } from './operation.ts';

const ONE = 'shop = $1 AND number = $2';

/** Refusals that many entries got, at all gateways. `SharedRefusals` documents the methods. */
export const refusalOperations = ({ now, tables: { refusals }, lock }: Dialect) => {
  const waitedFor = `SELECT 1 FROM ${refusals} AS refusal
    WHERE refusal.shop = refused.shop AND refusal.number = refused.number AND NOT ended`;
  const any = `EXISTS (SELECT 1 FROM ${refusals} WHERE ${ONE})`;
  const open = `EXISTS (SELECT 1 FROM ${refusals} WHERE ${ONE} AND NOT ended)`;
  // One at a time for each refusal, so that of two gateways one sees the fifth lane.
  const lockOne = (shop: ShopId, number: number) => lock(`refusal ${shop} ${number}`, 'loose');

  return {
    /** Delivery waits for it, so it is one list. While a row of the refusal is left, it is not counted anew. */
    *countRefusal(refusal: RefusalToCount): Operation<CountedRefusal> {
      const { shopId: shop, number, words, id: entry, waited } = refusal;
      const lane = laneHash({ shopId: shop, ...refusal.lane });
      const values = [shop, number, words, lane, entry, waited ? 0 : 1];
      const locked = lockOne(shop, number);
      const counted = [
        `UPDATE ${refusals} SET count = count + $6, newest_at = CASE $6 WHEN 1 THEN ${now} ELSE newest_at END
         WHERE ${ONE} AND NOT ended RETURNING number`,
        `DELETE FROM ${refusals} WHERE ${ONE} AND ended AND $6 = 1`,
        `INSERT INTO refused (shop, number, lane, entry, at) SELECT $1, $2, $4, $5, ${now} WHERE NOT ${any}
         ON CONFLICT (shop, number, entry) DO UPDATE SET lane = excluded.lane, at = excluded.at`,
        `DELETE FROM refused WHERE ${ONE} AND entry IN (
           SELECT entry FROM refused WHERE ${ONE} AND lane = $4
           ORDER BY at DESC LIMIT ${MOST_OF_LANE} OFFSET ${MOST_OF_LANE})`,
        `INSERT INTO ${refusals} (shop, number, words, since, newest_at, count, ended)
         SELECT $1, $2, $3, ${now}, ${now}, count(*), false FROM refused
         WHERE ${ONE} AND at >= ${now} - ${WITHIN_MS} AND NOT ${any}
         HAVING count(DISTINCT lane) >= ${LANES_ALIKE} RETURNING number`,
        // It waits; those before it are dead.
        `DELETE FROM refused WHERE ${ONE} AND entry = $5 AND ${open}`,
      ];
      const rows = yield [...locked, ...counted.map((sql) => statement(sql, ...values))];
      const [again = [], , , , begun = []] = rows.slice(locked.length);
      return { waits: again.length + begun.length > 0, isNew: begun.length > 0 };
    },

    *openRefusals(): Operation<readonly SharedRefusal[]> {
      return yield* rowsOf<SharedRefusal>(
        `SELECT shop AS "shopId", number, words, since, count FROM ${refusals} WHERE NOT ended`,
      );
    },

    /** Ends those that no further entry got; `waitForShopInstead` is still to be called for each. */
    *endQuietRefusals(): Operation<readonly Pick<SharedRefusal, 'shopId' | 'number'>[]> {
      yield* rowsOf(
        `DELETE FROM ${refusals} WHERE ended AND newest_at < ${now} - ${ENDED_KEPT_MS}`,
      );
      yield* rowsOf(
        `DELETE FROM refused WHERE at < ${now} - ${WITHIN_MS} AND NOT EXISTS (${waitedFor})`,
      );
      return yield* rowsOf(
        `UPDATE ${refusals} SET ended = true WHERE NOT ended AND newest_at < ${now} - ${QUIET_MS}
         RETURNING shop AS "shopId", number`,
      );
    },

    *refusedBefore(shopId: ShopId, number: number): Operation<readonly EntryId[]> {
      const rows = yield* rowsOf<{ entry: EntryId }>(
        `SELECT entry FROM refused WHERE ${ONE} AND EXISTS (${waitedFor})`,
        ...[shopId, number],
      );
      return rows.map(({ entry }) => entry);
    },

    /** False: it is not waited for. */
    *removeRefusal(shop: ShopId, number: number): Operation<boolean> {
      const rows = yield [
        ...lockOne(shop, number),
        ...[
          `DELETE FROM refused WHERE ${ONE} AND ${open}`,
          `DELETE FROM ${refusals} WHERE ${ONE} AND NOT ended RETURNING number`,
        ].map((sql) => statement(sql, shop, number)),
      ];
      return (rows.at(-1) ?? []).length > 0;
    },
  };
};

interface RefusalStore {
  openRefusals(): Promise<readonly SharedRefusal[]>;
  endQuietRefusals(): Promise<readonly Pick<SharedRefusal, 'shopId' | 'number'>[]>;
  removeRefusal(shopId: ShopId, number: number): Promise<boolean>;
  waitForShopInstead(shopId: ShopId, waitsFor: number): Promise<unknown>;
}

/** What ends refusals. After a crash in between, `repair` releases the entries that wait for one that is over. */
export const refusalEnds = (
  store: RefusalStore,
): Pick<SharedRefusals, 'refusals' | 'endRefusal'> => ({
  refusals: async () => {
    for (const { shopId, number } of await store.endQuietRefusals()) {
      await store.waitForShopInstead(shopId, number);
    }
    return store.openRefusals();
  },
  endRefusal: async (shopId, number) => {
    if (await store.removeRefusal(shopId, number)) await store.waitForShopInstead(shopId, number);
  },
});
