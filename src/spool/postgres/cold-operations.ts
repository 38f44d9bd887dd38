import pg from 'pg';
import {
  type Dialect,
  type Param,
  type Run,
  type Statement,
  statement,
} from '../cold/operation.ts';
import { type ColdOperations, runnable } from '../cold/operations.ts';
import type { Remote } from '../methods.ts';
import { SUMMARY_VERSION } from '../stored-form.ts';
import { tablesOf } from '../tables.ts';
import type { Database } from './connection.ts';
import { optOutHash } from './erased-keys.ts';
import { ENTRY_COLUMNS, ENTRY_TABLES, isUuid, jsonOf, storable } from './rows.ts';
import { NOW } from './schema.ts';

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
const LOOSE_LOCK = `${LOCK}, set_config('synchronous_commit', 'off', true)`;

export const DIALECT: Dialect = {
  now: `${NOW.name}()`,
  tables: tablesOf('postgres'),
  entryRows: `(SELECT ${ENTRY_COLUMNS} FROM ${ENTRY_TABLES})`,
  summarizedRows: `(SELECT ${ENTRY_COLUMNS}, entry."from", entry."to", entry.subject, entry.more,
    entry.summary_version AS version
    FROM ${ENTRY_TABLES})`,
  earlierInLane: `SELECT FROM job
    WHERE lane = $1 AND seq < (SELECT seq FROM entry WHERE id = $2) LIMIT 1`,
  isEntryId: isUuid,
  lock: (name, commit) => [statement(commit === 'loose' ? LOOSE_LOCK : LOCK, name)],
  forUpdate: 'FOR UPDATE',
  listed: (list) => `(SELECT json_array_elements_text(${list}))`,
  saveSummary: ({ seq, id, from, to, subject, more }) => [
    statement(
      `UPDATE entry SET summary_version = ${SUMMARY_VERSION}, "from" = $3, "to" = $4, subject = $5, more = $6
       WHERE seq = $1 AND id = $2`,
      ...[seq, id, from, to, subject, more],
    ),
    statement(
      `INSERT INTO dirty (seq, is_new, at) SELECT seq, false, ${NOW.name}() FROM entry WHERE seq = $1 AND id = $2`,
      ...[seq, id],
    ),
  ],
  optOutHash,
};

/** The operations that both stores share. */
export const coldOperations = (database: Database): Remote<ColdOperations> =>
  // `run` resolves with the result of the operation.
  runnable(DIALECT, runOn(database)) as Remote<ColdOperations>;

export const runOn =
  (database: Database): Run =>
  async (begin) => {
    const operation = begin();
    let step = operation.next([]);
    while (step.done !== true) {
      const rows = await database.query<readonly unknown[]>(step.value.map(inlined).join(';\n'));
      step = operation.next(step.value.length === 1 ? [rows] : rows);
    }
    return step.value;
  };

/** In labels and ids, which are texts of other people, U+FFFD stands for what PostgreSQL cannot store. */
function stored(value: Param): string | number | null {
  if (typeof value === 'string') return storable(value);
  return typeof value === 'object' && value !== null ? jsonOf(value) : value;
}

/** A statement with its values in it: only such ones can be sent together, and their types follow from the columns. */
const inlined = ({ text, values }: Statement): string =>
  text.replace(/\$(\d+)/g, (_, n) => {
    const value = stored(values[Number(n) - 1] ?? null);
    if (typeof value === 'string') return pg.escapeLiteral(value);
    return value === null ? 'NULL' : `(${value})`;
  });
