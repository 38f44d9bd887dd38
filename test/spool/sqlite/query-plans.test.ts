import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readPerson } from '../../../src/cli/erase-person.ts';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { TraceFinder } from '../../../src/spool/cold/erasure-finder.ts';
import { DIALECT, rowsIn } from '../../../src/spool/sqlite/cold-operations.ts';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { anEntry, SHOP } from '../../support/entries.ts';
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
  const [id, guestId] = [asVisitorId('a'.repeat(32)), asVisitorId('b'.repeat(32))];
  const identity = { shopId: SHOP, subject: 'ada', newId: id, at: 1 };
  for (const guest of [{}, { guestId }]) {
    operations.createVisitor({ shopId: SHOP, id: guestId, createdAt: 1 });
    operations.identifyVisitor({ ...identity, ...guest });
  }
  for (const read of ['visitor', 'countUnusedUploads', 'logOut', 'startConversation'] as const) {
    operations[read](SHOP, id);
  }
  for (const read of ['upload', 'removeUpload'] as const) operations[read](SHOP, id, 'x');
  operations.conversationsOf(SHOP, [id]);
  operations.personOf({ shopId: SHOP, channel: 'sms', lane: 'AC1/whatsapp/+1555/+1415' });
  expect(statements.length).toBeGreaterThan(120);
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

test('an erasure does not read all visitors of a shop for each one of the person', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const db = openDatabase(join(dir.path, 'spool.db'), 'owner');
  ends(() => db.close());
  db.exec(
    `INSERT INTO visitors (shop, id, email, created_at) VALUES ('a', 'b', 'ann@example.com', 0)`,
  );
  const statements: string[] = [];
  const rowsOf = rowsIn(db);
  const finder = new TraceFinder((begin) => {
    const operation = begin();
    let step = operation.next([]);
    while (step.done !== true) {
      statements.push(...step.value.map(({ text }) => text));
      step = operation.next(step.value.map(rowsOf));
    }
    return Promise.resolve(step.value);
  }, DIALECT);
  await finder.find({ person: readPerson('ann@example.com', []), others: false });
  const merged = statements.find((sql) => sql.includes('RECURSIVE')) ?? '';
  const plan = db.prepare<[], { detail: string }>(
    `EXPLAIN QUERY PLAN ${merged.replace('$1', '1')}`,
  );
  const lookups = plan.all().flatMap(({ detail }) => /^\w+ other .*/.exec(detail)?.[0] ?? []);
  expect(lookups).toEqual([
    'SEARCH other USING INDEX visitors_joined (shop=? AND joined=?)',
    'SEARCH other USING INDEX visitors_id (shop=? AND id=?)',
  ]);
});
