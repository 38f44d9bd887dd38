import type { ShopId } from '../../domain/ids.ts';
import { type Dialect, type Operation, rowsOf } from './operation.ts';

/**
 * Opt-outs from text messages. A number that opted in again keeps a row with the message that changed it. Of an
 * erased person there is a keyed hash instead, until they opt in or out again. `OptOutStore` documents the methods.
 */
export const optOutOperations = ({ tables, now, optOutHash }: Dialect) => {
  const { optOuts, erasedOptOuts } = tables;
  const own = `FROM ${optOuts} WHERE shop = $1 AND lane = $2`;
  const isErased = `EXISTS (SELECT 1 FROM ${erasedOptOuts} WHERE hash = ${optOutHash('$1', '$2')})`;

  return {
    *isOptedOut(shopId: ShopId, lane: string): Operation<boolean> {
      const [row] = yield* rowsOf<{ is: boolean | number }>(
        `SELECT coalesce((SELECT opted_out ${own}), ${isErased}) AS "is"`,
        ...[shopId, lane],
      );
      return Boolean(row?.is);
    },

    *optOut(shopId: ShopId, lane: string, messageSid: string): Operation<void> {
      yield* rowsOf(
        `INSERT INTO ${optOuts} (shop, lane, at, opted_out, changed_by) VALUES ($1, $2, ${now}, true, $3)
         ON CONFLICT (shop, lane) DO UPDATE
           SET at = excluded.at, opted_out = true, changed_by = excluded.changed_by`,
        ...[shopId, lane, messageSid],
      );
    },

    *optIn(shopId: ShopId, lane: string, messageSid: string): Operation<boolean> {
      const changed = yield* rowsOf(
        `INSERT INTO ${optOuts} AS old (shop, lane, at, opted_out, changed_by)
         SELECT $1, $2, ${now}, false, $3 WHERE EXISTS (SELECT 1 ${own}) OR ${isErased}
         ON CONFLICT (shop, lane) DO UPDATE SET opted_out = false, changed_by = excluded.changed_by,
           at = CASE WHEN old.opted_out THEN excluded.at ELSE old.at END
         WHERE old.opted_out OR old.changed_by = excluded.changed_by RETURNING lane`,
        ...[shopId, lane, messageSid],
      );
      return changed.length > 0;
    },
  };
};
