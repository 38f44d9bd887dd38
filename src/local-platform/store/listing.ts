import { ApiError } from '../api-error.ts';
import { DECISIONS } from '../decisions.ts';
import type { Db } from './database.ts';

/** One condition of a WHERE clause. */
export interface Condition {
  readonly sql: string;
  readonly value?: string | number;
}

export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** Cursors, when there is something on that side. */
  readonly next?: string;
  readonly previous?: string;
}

/**
 * One page of a table, newest first, found by key and not by offset: rows that are added while
 * someone pages neither repeat nor push out any.
 *
 * The cursor names the row at which the neighbour page begins and the direction from there. Its
 * content is nobody's business but this file's.
 */
export function listSlice<Row extends { seq: number }>(
  db: Db,
  table: 'tickets' | 'messages' | 'contacts',
  conditions: readonly Condition[],
  page: { cursor?: string | undefined; limit?: number | undefined },
): Slice<Row> {
  const limit = Math.min(page.limit ?? DECISIONS.pageDefault, DECISIONS.pageMax);
  const from = page.cursor === undefined ? undefined : parseCursor(page.cursor);
  const back = from?.side === 'newer';
  const where = [
    ...conditions,
    ...(from ? [{ sql: back ? 'seq > ?' : 'seq < ?', value: from.seq }] : []),
  ];
  const rows = db
    .prepare<(string | number)[], Row>(
      `SELECT * FROM ${table} WHERE ${where.map(({ sql }) => sql).join(' AND ')}
       ORDER BY seq ${back ? 'ASC' : 'DESC'} LIMIT ${limit + 1}`,
    )
    .all(...values(where));
  const more = rows.length > limit;
  const shown = rows.slice(0, limit);
  if (back) shown.reverse();
  const first = shown.at(0)?.seq;
  const last = shown.at(-1)?.seq;
  const hasNewer = back ? more : from !== undefined;
  const hasOlder = back || more;
  return {
    rows: shown,
    ...(hasOlder && last !== undefined && { next: cursor('older', last) }),
    ...(hasNewer && first !== undefined && { previous: cursor('newer', first) }),
  };
}

export function count(db: Db, table: 'tickets', conditions: readonly Condition[]): number {
  const where = conditions.map(({ sql }) => sql).join(' AND ');
  const row = db
    .prepare<(string | number)[], { n: number }>(
      `SELECT count(*) AS n FROM ${table} WHERE ${where}`,
    )
    .get(...values(conditions));
  return row?.n ?? 0;
}

const values = (conditions: readonly Condition[]) =>
  conditions.flatMap(({ value }) => (value === undefined ? [] : [value]));

/** `column = value`, or nothing when no value is asked for. */
export function equals(column: string, value: string | number | boolean | undefined): Condition[] {
  if (value === undefined) return [];
  return [{ sql: `${column} = ?`, value: typeof value === 'boolean' ? Number(value) : value }];
}

/** `column IN (values)`, as one parameter however many there are. */
export function oneOf(column: string, list: readonly (string | number)[] | undefined): Condition[] {
  if (list === undefined) return [];
  const sql = `${column} IN (SELECT value FROM json_each(?))`;
  return [{ sql, value: JSON.stringify(list) }];
}

export function isNull(column: string, wanted: boolean | undefined): Condition[] {
  if (wanted === undefined) return [];
  return [{ sql: `${column} IS ${wanted ? '' : 'NOT '}NULL` }];
}

function cursor(side: 'older' | 'newer', seq: number): string {
  return Buffer.from(`${side}:${seq}`).toString('base64url');
}

function parseCursor(text: string): { side: 'older' | 'newer'; seq: number } {
  const match = /^(older|newer):(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString());
  const [, side, seq] = match ?? [];
  if (side !== 'older' && side !== 'newer') {
    throw new ApiError(400, 'the request is not valid', { cursor: 'not a cursor of this list' });
  }
  return { side, seq: Number(seq) };
}
