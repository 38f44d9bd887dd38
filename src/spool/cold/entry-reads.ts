import type { EntryId } from '../../domain/ids.ts';
import type { Entry, RawForm, TimelineStep } from '../entry.ts';
import { type EntryRow, timelineOf, toEntry, toRawForm } from '../entry-row.ts';
import type { EntryFilter } from '../spool.ts';
import { type Dialect, type Operation, type Param, rowsOf } from './operation.ts';

interface Row extends EntryRow {
  /** SQLite has no booleans. */
  readonly has_raw: boolean | number;
}

/** What operators read of entries. `Entries` documents the methods. */
export const entryReads = ({ tables: { raws }, entryRows, isEntryId }: Dialect) => {
  function* rowOf(id: EntryId): Operation<Row | undefined> {
    if (!isEntryId(id)) return undefined;
    return (yield* rowsOf<Row>(`SELECT * FROM ${entryRows} AS entry WHERE id = $1`, id))[0];
  }

  return {
    *get(id: EntryId): Operation<Entry | undefined> {
      const row = yield* rowOf(id);
      return row && toEntry(row);
    },

    *raw(id: EntryId): Operation<RawForm | undefined> {
      const row = yield* rowOf(id);
      if (row === undefined || !row.has_raw) return undefined;
      const sql = `SELECT bytes FROM ${raws} WHERE seq = $1`;
      const [raw] = yield* rowsOf<{ bytes: Uint8Array }>(sql, row.seq);
      return toRawForm(row, raw?.bytes);
    },

    *list({ shopId, channel, states, limit }: EntryFilter): Operation<readonly Entry[]> {
      if (states?.length === 0) return [];
      const values: Param[] = [];
      const place = (value: Param): string => `$${values.push(value)}`;
      const conditions = ['true'];
      if (shopId !== undefined) conditions.push(`shop = ${place(shopId)}`);
      if (channel !== undefined) conditions.push(`channel = ${place(channel)}`);
      if (states !== undefined) conditions.push(`state IN (${states.map(place).join(', ')})`);
      const sql = `SELECT * FROM ${entryRows} AS entry WHERE ${conditions.join(' AND ')}
        ORDER BY seq DESC LIMIT ${place(limit)}`;
      return (yield* rowsOf<Row>(sql, ...values)).map(toEntry);
    },

    *timeline(id: EntryId): Operation<readonly TimelineStep[]> {
      const row = yield* rowOf(id);
      if (row === undefined) return [];
      const sql = 'SELECT steps FROM timeline WHERE seq = $1 ORDER BY no';
      const later = yield* rowsOf<{ steps: string }>(sql, row.seq);
      return timelineOf(row, later);
    },
  };
};
