import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { updateSchema } from '../../../src/runtime/sqlite-schema.ts';
import { rateHash } from '../../../src/spool/hashes.ts';
import { DataFolderLock } from '../../../src/spool/locks.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { SPOOL_SCHEMA } from '../../../src/spool/sqlite/schema.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const AT = Date.UTC(2026, 0, 1, 12);
const HOUR = AT / 3_600_000;
const LIMITS = { per10min: 3, perHour: 9, perThreadPer10min: 3, sameBodyPerHour: 9 };

/** A folder of the schema before senders were counted by arrival. */
function folderOfBefore(): string {
  const { path, remove } = tempDir();
  ends(remove);
  const db = new Database(join(path, 'spool.db'));
  updateSchema(db, 'spool.db', { ...SPOOL_SCHEMA, steps: SPOOL_SCHEMA.steps.slice(0, 1) });
  const add = db.prepare(
    'INSERT INTO mail_rates (hour, person, series, no, at) VALUES (?, ?, ?, ?, ?)',
  );
  const of = (person: string) => rateHash(SHOP, 'person', person);
  // Ann has written twice, and her second message exceeded a limit of then; Bob has a thread.
  for (const no of [1, 2]) add.run(HOUR, of('ann'), 0, no, AT + no);
  add.run(HOUR, of('ann'), rateHash(SHOP, 'message', 'second'), 0, 2);
  for (const no of [1, 2, 3]) add.run(HOUR, of('bob'), rateHash(SHOP, 'thread', 't'), no, AT + no);
  db.close();
  return path;
}

test('what was counted before the upgrade counts, and has its verdict', async () => {
  const dir = folderOfBefore();
  const { spool } = await openSqliteStore({ dir, role: 'owner', reserveBytes: 0 });
  ends(() => spool.close());
  const count = (person: string, message: string, thread?: string) =>
    spool.countMessage(
      { shopId: SHOP, person, message, at: AT + 9, ...(thread !== undefined && { thread }) },
      LIMITS,
    );
  expect(await count('ann', 'second')).toBe('per10min');
  expect(await count('ann', 'third')).toBeUndefined();
  expect(await count('ann', 'fourth')).toBe('per10min');
  expect(await count('bob', 'another', 'u')).toBeUndefined();
  expect(await count('bob', 'fourth', 't')).toBe('perThreadPer10min');
});

test('a command does not update the folder of a running gateway', async () => {
  const dir = folderOfBefore();
  const lock = DataFolderLock.take(dir);
  const beside = () => openSqliteStore({ dir, role: 'beside', reserveBytes: 0 });
  await expect(beside()).rejects.toThrow('gateway of an older version. Restart the gateway');
  lock.release();
  const { spool } = await beside();
  await spool.close();
});

test('people on WhatsApp from before their names were stored keep lane and opt-out, also under a user id', async () => {
  const { path, remove } = tempDir();
  ends(remove);
  const db = new Database(join(path, 'spool.db'));
  updateSchema(db, 'spool.db', { ...SPOOL_SCHEMA, steps: SPOOL_SCHEMA.steps.slice(0, 2) });
  const lanes = [
    'whatsapp/whatsapp/+15550783881/+14155550001',
    'AC1/sms/+15550783881/+14155550001',
  ];
  for (const [n, lane] of lanes.entries()) {
    db.prepare(`INSERT INTO conversations VALUES (?, 'sms', ?, ?, ?)`).run(SHOP, lane, `c${n}`, AT);
    db.prepare(`INSERT INTO opt_outs (shop, lane, at) VALUES (?, ?, ?)`).run(SHOP, lane, AT);
  }
  db.close();
  const { spool, optOuts } = await openSqliteStore({ dir: path, role: 'owner', reserveBytes: 0 });
  ends(() => spool.close());
  const place = { scope: 'whatsapp/whatsapp', ours: '+15550783881' };
  const [accepted] = await spool.accept([
    anEntry({ sender: { ...place, number: '+14155550001', userId: 'US.1', at: AT + HOUR } }),
  ]);
  const entry = accepted && (await spool.get(accepted.id));
  expect(entry?.lane).toBe(lanes[0]);
  expect(
    await spool.conversation({ shopId: SHOP, channel: 'sms', lane: lanes[0] ?? '' }),
  ).toMatchObject({ id: 'c0' });
  const person = await spool.personOf({ shopId: SHOP, channel: 'sms', lane: lanes[0] ?? '' });
  expect(person?.names.map(({ name }) => name)).toEqual(['+14155550001', 'US.1']);
  expect(await optOuts.isOptedOut(SHOP, 'whatsapp/whatsapp/+15550783881/#+14155550001')).toBe(true);
  expect(await optOuts.isOptedOut(SHOP, 'AC1/sms/+15550783881/#+14155550001')).toBe(false);
});
