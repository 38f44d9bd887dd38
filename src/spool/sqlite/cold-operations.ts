import type { Clock } from '../../runtime/clock.ts';
import {
  type Dialect,
  type Operation,
  type Param,
  type Statement,
  statement,
} from '../cold/operation.ts';
import { type ColdOperations, runnable } from '../cold/operations.ts';
import { SUMMARY_VERSION } from '../stored-form.ts';
import { tablesOf } from '../tables.ts';
import type { Db } from './database.ts';
import type { ErasedKeys } from './erased-keys.ts';

const OF_ID = '(SELECT seq FROM entries WHERE id = $2)';

export const DIALECT: Dialect = {
  now: 'now_ms()',
  tables: tablesOf('sqlite'),
  entryRows: 'entries',
  summarizedRows: '(SELECT * FROM entries LEFT JOIN summaries USING (seq))',
  earlierInLane: `SELECT 1 FROM entries WHERE lane_hash = $1 AND in_lane = 1 AND seq < ${OF_ID}
    UNION ALL SELECT 1 FROM entries
    WHERE filed = 0 AND shop = $3 AND seq < ${OF_ID} AND lane_hash = $1 LIMIT 1`,
  isEntryId: () => true,
  // One thread makes all calls, one after the other.
  lock: () => [],
  forUpdate: '',
  listed: (list) => `(SELECT value FROM json_each(${list}))`,
  saveSummary: ({ seq, id, from, to, subject, more }) =>
    [
      `INSERT OR REPLACE INTO summaries (seq, version, "from", "to", subject, more)
       SELECT seq, ${SUMMARY_VERSION}, $3, $4, $5, $6 FROM entries WHERE seq = $1 AND id = $2`,
      'INSERT INTO changes (seq) SELECT seq FROM entries WHERE seq = $1 AND id = $2',
    ].map((sql) => statement(sql, seq, id, from, to, subject, more)),
  optOutHash: (shop, lane) => `opt_out_hash(${shop}, ${lane})`,
};

/** Runs statements, each of which is prepared when it is first used. */
export function rowsIn(db: Db): (statement: Statement) => readonly unknown[] {
  const prepare = (text: string) => db.prepare<[Record<string, string | number | null>]>(text);
  const prepared = new Map<string, ReturnType<typeof prepare>>();
  return ({ text, values }) => {
    const made = prepared.get(text) ?? prepare(text);
    prepared.set(text, made);
    const named = Object.fromEntries(values.map((value, n) => [n + 1, boundOf(value)]));
    if (made.reader) return made.all(named);
    made.run(named);
    return [];
  };
}

const boundOf = (value: Param) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

/** The operations that both stores share. */
export function coldOperations(db: Db, clock: Clock, erased: ErasedKeys): ColdOperations {
  db.function('now_ms', () => clock());
  db.function('opt_out_hash', (shop: string, lane: string) => erased.optOutHash(shop, lane));
  const rowsOf = rowsIn(db);
  const run = (begin: () => Operation<unknown>): unknown => {
    const operation = begin();
    let step = operation.next([]);
    while (step.done !== true) step = operation.next(step.value.map(rowsOf));
    return step.value;
  };
  // `run` returns the result of the operation.
  return runnable(DIALECT, run) as ColdOperations;
}
