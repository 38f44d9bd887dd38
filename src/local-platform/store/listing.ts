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

/** What a page may hold of rows that can be large. */
export interface Weight {
  /** SQL of what a row weighs, in bytes; the row is `listed`. */
  readonly bytes: string;
  readonly max: number;
}

/**
 * One page of a list, newest first, found by key and not by offset: rows that are added while
 * someone pages neither repeat nor push out any. With a weight it may be a shorter page, but has one
 * row at least; what is too much is never read.
 * @throws {ApiError} 400 for a cursor that is not of this list
 */
export function listSlice<Row extends { seq: number }>(
  db: Db,
  streams: Streams,
  page: Page,
  weight?: Weight,
): Slice<Row> {
  const { table } = streams;
  const wanted = Math.min(page.limit ?? DECISIONS.pageDefault, DECISIONS.pageMax);
  const from = page.cursor === undefined ? undefined : parseCursor(table, page.cursor);
  const back = from?.side === 'newer';
  const read = <T extends { seq: number }>({ sql, values }: Condition) =>
    db
      .prepare<(string | number)[], T>(sql)
      .all(...values)
      // SQLite need not keep the order of the merge, and would sort whole rows if it were told to.
      .sort((one, other) => (back ? one.seq - other.seq : other.seq - one.seq));
  const weigh = ({ bytes }: Weight) =>
    merged(streams, from, wanted, `listed.seq, ${bytes} AS bytes`);
  const limit = weight ? fitting(weight, read<Weighed>(weigh(weight))) : wanted;
  const rows = read<Row>(merged(streams, from, limit + 1));
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

interface Weighed {
  readonly seq: number;
  readonly bytes: number;
}

/** How many of the rows a page may have. */
function fitting(weight: Weight, rows: readonly Weighed[]): number {
  let bytes = 0;
  const at = rows.findIndex((row) => (bytes += row.bytes) > weight.max);
  return Math.max(1, at < 0 ? rows.length : at);
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
  columns = 'listed.*',
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
    SELECT ${columns} FROM heads CROSS JOIN ${table} listed ON listed.seq = heads.seq`,
    values: [low, high, ...rest.values, ...of.values, back ? high : low, ...rest.values, limit],
  };
}
