import { LIMITS } from '../open-points.ts';
import type { Db } from './database.ts';
import type { Cursor, Cursors, ListName } from './cursors.ts';

/**
 * The rows of a list, as one stream per value of an indexed column, each ordered by `seq`. A list
 * merges its streams, so a page reads one index entry per row and one per stream, no matter how many
 * rows match.
 */
export interface Streams {
  readonly table: ListName;
  /** An index on `column`, optionally columns that `conditions` fix, and `seq`. */
  readonly index: string;
  readonly column: string;
  /** A SELECT of the distinct values of `column`. */
  readonly of: Condition;
  /** Further conditions on a row. */
  readonly conditions: readonly Condition[];
  /** Limits within which all matching rows are. */
  readonly within?: Bounds | undefined;
}

/** A range of `seq`, inclusive. */
export interface Bounds {
  readonly first: number;
  readonly last: number;
}

export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** Cursors of the adjacent pages; absent when there is none. */
  readonly next?: string;
  readonly previous?: string;
}

interface Page {
  readonly shop: string;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** Limits the size of a page whose rows can be large. */
interface Weight {
  /** An SQL expression for the size in bytes of the row `listed`. */
  readonly bytes: string;
  readonly max: number;
}

/**
 * One page of a list, newest first, found by key rather than by offset: rows that are added between
 * two pages neither repeat nor skip other rows. With a weight the page may be shorter, but has at least
 * one row; rows beyond it are not read.
 * @throws {ApiError} 400 for a cursor of another list, or an invalid one
 */
export function listSlice<Row extends { seq: number }>(
  db: Db,
  cursors: Cursors,
  streams: Streams,
  page: Page,
  weight?: Weight,
): Slice<Row> {
  const { table } = streams;
  const wanted = Math.min(page.limit ?? LIMITS.pageDefault, LIMITS.pageMax);
  const from = page.cursor === undefined ? undefined : cursors.parse(table, page.shop, page.cursor);
  const cursorOf = (cursor: Cursor) => cursors.format(table, page.shop, cursor);
  const back = from?.side === 'newer';
  const read = <T extends { seq: number }>({ sql, values }: Condition) =>
    db
      .prepare<(string | number)[], T>(sql)
      .all(...values)
      // SQLite does not guarantee the order of the merge; with ORDER BY it would sort whole rows.
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
    ...(hasOlder && { next: cursorOf({ side: 'older', seq: oldest }) }),
    ...(hasNewer && { previous: cursorOf({ side: 'newer', seq: newest }) }),
  };
}

interface Weighed {
  readonly seq: number;
  readonly bytes: number;
}

/** How many of the rows fit into a page: at least one. */
export function fitting({ max }: Pick<Weight, 'max'>, rows: readonly Weighed[]): number {
  let bytes = 0;
  const at = rows.findIndex((row) => (bytes += row.bytes) > max);
  return Math.max(1, at < 0 ? rows.length : at);
}

/** For an empty page, values that put the cursor's own row on the adjacent page. */
function edges(shown: readonly { seq: number }[], from: Cursor | undefined) {
  const seq = from?.seq ?? 0;
  return {
    newest: shown.at(0)?.seq ?? Math.max(0, seq - 1),
    oldest: shown.at(-1)?.seq ?? seq + 1,
  };
}

/**
 * The merge of the streams. `heads` is a priority queue with the next row of each stream: each step
 * takes the first row and adds its successor in the same stream (https://sqlite.org/lang_with.html,
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

/** One condition of a WHERE clause. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** For `Streams.of`: one value. */
export const just = (value: string): Condition => ({ sql: 'SELECT ? AS value', values: [value] });

/** For `Streams.of`: a column of the rows that meet a condition. */
export const valuesOf = (column: string, table: string, { sql, values }: Condition): Condition => ({
  sql: `SELECT ${column} AS value FROM ${table} WHERE ${sql}`,
  values,
});

/** `column = value`; no condition when the value is undefined. */
export function equals(column: string, value: string | number | boolean | undefined): Condition[] {
  if (value === undefined) return [];
  const bound = typeof value === 'boolean' ? Number(value) : value;
  return [{ sql: `${column} = ?`, values: [bound] }];
}

/** `column IN (values)`, with all values in one parameter. */
export function oneOf(column: string, list: readonly (string | number)[] | undefined): Condition[] {
  if (list === undefined) return [];
  const sql = `${column} IN (SELECT value FROM json_each(?))`;
  return [{ sql, values: [JSON.stringify(list)] }];
}

export function isNull(column: string, wanted: boolean | undefined): Condition[] {
  if (wanted === undefined) return [];
  return [{ sql: `${column} IS ${wanted ? '' : 'NOT '}NULL`, values: [] }];
}

/** Joins the conditions with AND; without any, a condition that is always true. */
export function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return { sql: 'true', values: [] };
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}
