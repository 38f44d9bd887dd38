import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { anEntry } from '../../support/entries.ts';
import { ends } from '../../support/ends.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('no statement of the store reads all entries', () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const db = openDatabase(join(dir.path, 'spool.db'), 'owner');
  ends(() => db.close());
  const statements: string[] = [];
  const prepare = db.prepare.bind(db);
  // Each table prepares what it needs when it is made; what both stores share, when it is called.
  db.prepare = (sql: string) => {
    statements.push(sql);
    return prepare(sql);
  };
  const { operations } = createOperations(db, Date.now);
  for (const read of ['get', 'raw', 'timeline'] as const) operations[read](anEntry().id);
  expect(statements.length).toBeGreaterThan(140);
  for (const sql of statements) {
    // The end of the table.
    if (sql === 'SELECT max(seq) AS seq FROM entries') continue;
    // Compiled and not run, so that any value will do.
    const plan = prepare<[], { detail: string }>(
      `EXPLAIN QUERY PLAN ${sql.replace(/[@$]\w+|\?/g, "'x'")}`,
    ).all();
    const whole = plan.filter(({ detail }) => /^(?:SCAN|SEARCH) entries$/.test(detail));
    expect([sql, whole]).toEqual([sql, []]);
  }
});
