import type { ShopId } from '../../domain/ids.ts';
import type { EntryMeta } from '../entry.ts';
import { type Dialect, type Operation, rowsOf } from './operation.ts';

/** `Marks`, and the stored health of shops (`ShopHealthRecords`), for commands beside the gateway. */
export const recordOperations = ({ tables: { marks } }: Dialect) => ({
  *mark(name: string): Operation<number | undefined> {
    const sql = `SELECT at FROM ${marks} WHERE name = $1`;
    return (yield* rowsOf<{ at: number }>(sql, name))[0]?.at;
  },

  *setMark(name: string, value: number): Operation<void> {
    yield* rowsOf(
      `INSERT INTO ${marks} (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = excluded.at`,
      ...[name, value],
    );
  },

  *raiseMark(name: string, most: number): Operation<boolean> {
    const raised = yield* rowsOf(
      `INSERT INTO ${marks} AS mark (name, at) VALUES ($1, 1)
       ON CONFLICT (name) DO UPDATE SET at = mark.at + 1 WHERE mark.at >= 0 AND mark.at < $2 RETURNING name`,
      ...[name, most],
    );
    return raised.length > 0;
  },

  *saveShopHealth(shopId: ShopId, health: EntryMeta): Operation<void> {
    yield* rowsOf(
      `INSERT INTO shop_health (shop, health) VALUES ($1, $2)
       ON CONFLICT (shop) DO UPDATE SET health = excluded.health`,
      ...[shopId, JSON.stringify(health)],
    );
  },

  *shopHealth(shopId: ShopId): Operation<EntryMeta | undefined> {
    const sql = `SELECT health FROM shop_health WHERE shop = $1`;
    const [row] = yield* rowsOf<{ health: string }>(sql, shopId);
    // Written by `saveShopHealth`.
    return row && (JSON.parse(row.health) as EntryMeta);
  },
});
