import { LIMITS } from '../open-points.ts';
import type { Db } from './database.ts';
import { invalidRequest } from '../api-error.ts';

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
interface Weight {
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
  const wanted = Math.min(page.limit ?? LIMITS.pageDefault, LIMITS.pageMax);
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

/** One condition of a WHERE clause. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** `column = value`, or nothing when no value is asked for. */
export function equals(column: string, value: string | number | boolean | undefined): Condition[] {
  if (value === undefined) return [];
  const bound = typeof value === 'boolean' ? Number(value) : value;
  return [{ sql: `${column} = ?`, values: [bound] }];
}

/** `column IN (values)`, as one parameter however many there are. */
export function oneOf(column: string, list: readonly (string | number)[] | undefined): Condition[] {
  if (list === undefined) return [];
  const sql = `${column} IN (SELECT value FROM json_each(?))`;
  return [{ sql, values: [JSON.stringify(list)] }];
}

export function isNull(column: string, wanted: boolean | undefined): Condition[] {
  if (wanted === undefined) return [];
  return [{ sql: `${column} IS ${wanted ? '' : 'NOT '}NULL`, values: [] }];
}

/** All of them; of none, what is always true. */
export function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return { sql: 'true', values: [] };
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The lists that have pages. */
export type ListName = 'tickets' | 'messages' | 'contacts';

/** Where a page begins: on one side of a row, which is not on the page itself. */
interface Cursor {
  readonly side: 'older' | 'newer';
  readonly seq: number;
}

/** A cursor as clients see it: opaque, and of one list only (API §2.6). */
export function formatCursor(list: ListName, { side, seq }: Cursor): string {
  return Buffer.from(`${list}:${side}:${seq}`).toString('base64url');
}

/** @throws {ApiError} 400 for anything that `formatCursor` has not made for this list */
function parseCursor(list: ListName, text: string): Cursor {
  const [name, side, digits = ''] = Buffer.from(text, 'base64url').toString('latin1').split(':');
  if (name === list && (side === 'older' || side === 'newer') && /^\d{1,15}$/.test(digits)) {
    const cursor: Cursor = { side, seq: Number(digits) };
    // Decoding is lenient; only the one way of writing it counts.
    if (formatCursor(list, cursor) === text) return cursor;
  }
  throw invalidRequest({ cursor: 'not a cursor of this list' });
}
