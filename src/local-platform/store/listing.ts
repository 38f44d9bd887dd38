import { DECISIONS } from '../decisions.ts';
import { allOf, type Condition } from './condition.ts';
import { type Cursor, formatCursor, type ListName, parseCursor } from './cursor.ts';
import type { Db } from './database.ts';

/**
 * Where a list's rows come from: a stream for each value of one indexed column, the rows of a
 * stream in the order of `seq`. A list is these streams merged, so that however many rows match,
 * a page reads as many index entries as it has rows, and one more for each stream.
 */
export interface Streams {
  readonly table: ListName;
  /** Its columns begin with `column`, perhaps others that `conditions` fix, and `seq`. */
  readonly index: string;
  readonly column: string;
  /** A SELECT of the values, each once. */
  readonly of: Condition;
  /** What a row has to fulfil besides. */
  readonly conditions: readonly Condition[];
  /** All rows that match are known to be between these. */
  readonly within?: Bounds | undefined;
}

/** From the one `seq` to the other, inclusive. */
export interface Bounds {
  readonly first: number;
  readonly last: number;
}

export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** Cursors, when there is something on that side. */
  readonly next?: string;
  readonly previous?: string;
}

interface Page {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/**
 * One page of a list, newest first, found by key and not by offset: rows that are added while
 * someone pages neither repeat nor push out any.
 * @throws {ApiError} 400 for a cursor that is not of this list
 */
export function listSlice<Row extends { seq: number }>(
  db: Db,
  streams: Streams,
  page: Page,
): Slice<Row> {
  const { table } = streams;
  const limit = Math.min(page.limit ?? DECISIONS.pageDefault, DECISIONS.pageMax);
  const from = page.cursor === undefined ? undefined : parseCursor(table, page.cursor);
  const { sql, values } = merged(streams, from, limit + 1);
  const back = from?.side === 'newer';
  const rows = db
    .prepare<(string | number)[], Row>(sql)
    .all(...values)
    // SQLite need not keep the order of the merge, and would sort whole rows if it were told to.
    .sort((one, other) => (back ? one.seq - other.seq : other.seq - one.seq));
  const more = rows.length > limit;
  const shown = rows.slice(0, limit);
  if (back) shown.reverse();
  const { newest, oldest } = edges(shown, from);
  const hasOlder = back || more;
  const hasNewer = back ? more : from !== undefined;
  return {
    rows: shown,
    ...(hasOlder && { next: formatCursor(table, { side: 'older', seq: oldest }) }),
    ...(hasNewer && { previous: formatCursor(table, { side: 'newer', seq: newest }) }),
  };
}

/** Of an empty page, such that the row that the cursor names is on the page beside it. */
function edges(shown: readonly { seq: number }[], from: Cursor | undefined) {
  const seq = from?.seq ?? 0;
  return {
    newest: shown.at(0)?.seq ?? Math.max(0, seq - 1),
    oldest: shown.at(-1)?.seq ?? seq + 1,
  };
}

/**
 * The merge: `heads` is a queue that holds the next row of each stream. The one in front is taken,
 * and its successor in the same stream goes into the queue (https://sqlite.org/lang_with.html,
 * "Controlling depth-first versus breadth-first search": ORDER BY makes the queue ordered).
 */
export function merged(
  { table, index, column, of, conditions, within }: Streams,
  from: Cursor | undefined,
  limit: number,
): Condition {
  const back = from?.side === 'newer';
  const low = Math.max(within?.first ?? 0, back ? from.seq + 1 : 0);
  const high = Math.min(
    within?.last ?? Number.MAX_SAFE_INTEGER,
    from && !back ? from.seq - 1 : Number.MAX_SAFE_INTEGER,
  );
  const order = back ? 'ASC' : 'DESC';
  const rest = allOf(conditions);
  const head = (bounds: string) =>
    `(SELECT row.seq FROM ${table} row INDEXED BY ${index} WHERE row.${column} = stream.value
      AND ${bounds} AND ${rest.sql} ORDER BY row.seq ${order} LIMIT 1)`;
  const after = back
    ? 'row.seq > stream.seq AND row.seq <= ?'
    : 'row.seq < stream.seq AND row.seq >= ?';
  return {
    sql: `
    WITH RECURSIVE heads(seq, value) AS (
      SELECT ${head('row.seq BETWEEN ? AND ?')}, stream.value FROM (${of.sql}) stream
      UNION ALL
      SELECT ${head(after)}, stream.value FROM heads stream WHERE stream.seq IS NOT NULL
      ORDER BY 1 ${order} NULLS LAST LIMIT ?
    )
    SELECT listed.* FROM heads CROSS JOIN ${table} listed ON listed.seq = heads.seq`,
    values: [low, high, ...rest.values, ...of.values, back ? high : low, ...rest.values, limit],
  };
}
