import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readPerson } from '../../../src/cli/erase-person.ts';
import { SharedLock } from '../../../src/spool/locks.ts';
import { type Db, openDatabase } from '../../../src/spool/sqlite/database.ts';
import { openEraser } from '../../../src/spool/sqlite/erasure.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { truncateLog } from '../../../src/spool/sqlite/vacuum.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, SHOP } from '../../support/entries.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeErasure } from '../erasure-conformance.ts';

const INBOX = 'support@acme.example';
const ANN = readPerson('ann@example.com', []);

/** A gateway's connection, and what erases beside it. */
function aStore() {
  const dir = tempDir();
  ends(() => dir.remove());
  const db = openDatabase(join(dir.path, 'spool.db'));
  ends(() => db.close());
  const store = createOperations(db, Date.now);
  const eraser = openEraser(dir.path);
  ends(() => eraser.close());
  return { dir: dir.path, eraser, ...store };
}

const mailOf = (address: string) =>
  anEntry({
    channel: 'email',
    lane: `${address} ${INBOX}`,
    meta: { agentContact: INBOX },
    raw: { kind: 'inline', bytes: Buffer.from(`From: ${address}\r\n\r\nHello`) },
  });

const bytesOf = (db: Db): string => {
  db.pragma('wal_checkpoint(TRUNCATE)');
  return readFileSync(db.name, 'latin1');
};

describeErasure('SQLite', async () => {
  const dir = tempDir();
  let current = await openStore(dir.path);
  const eraser = openEraser(dir.path);
  return {
    ...current,
    eraser,
    reopen: async () => {
      await current.spool.close();
      current = await openStore(dir.path);
      return current;
    },
    remove: async () => {
      eraser.close();
      await current.spool.close();
      dir.remove();
    },
  };
});

test('an erased opt-out leaves no number in the file, and the key is for its owner alone', async () => {
  const { dir, db, operations, eraser } = aStore();
  const number = readPerson('+14155552671', []);
  operations.optOut(SHOP, 'AC1/sms/+15550001111/+14155552671', 'SM1');
  const { traces } = await eraser.find({ person: number, others: false });
  await eraser.eraseRows(traces, { person: number, shops: [SHOP], waitMs: 0 });
  expect(bytesOf(db)).not.toContain('4155552671');
  expect(statSync(join(dir, 'erasure-key.json')).mode & 0o777).toBe(0o600);
});

test('what a platform said of late leaves no bytes in the file', async () => {
  const { db, operations, eraser } = aStore();
  operations.saveShopHealth(SHOP, { messages: { reason: '400 "ann@example.com is no address"' } });
  const { traces } = await eraser.find({ person: ANN, others: true });
  await eraser.eraseRows(traces, { person: ANN, shops: [SHOP], waitMs: 0 });
  await eraser.purge();
  expect(bytesOf(db)).not.toContain('ann@example.com');
});

test('files that no row names go, unless a command that writes may be about to name them', async () => {
  const { dir, eraser } = aStore();
  const write = (path: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), 'From: bob@example.com\r\n\r\nTell ann@example.com\r\n');
  };
  const left = () =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/^(?:spool|blobs)\./.test(entry.name))
      .map(({ name }) => name);
  write('blobs/coming');
  write('tmp/email/one/part');
  write('tmp/console-view/two/part');
  write('platform/media/tmp/three');
  const ingest = new SharedLock(join(dir, 'blobs.lock'));
  ends(() => ingest.release());
  await ingest.share();
  await eraser.sweepTemporary();
  expect(left()).toEqual(['coming']);
  await ingest.release();
  await eraser.sweepTemporary();
  expect(left()).toEqual([]);
});

/** Unused space in which SQLite has left Ann's mails, as when it moves rows to another page. */
async function leaveCopies({ db, operations, eraser }: ReturnType<typeof aStore>): Promise<void> {
  db.pragma('secure_delete = OFF');
  const mails = Array.from({ length: 50 }, () => mailOf('ann@example.com'));
  operations.accept([...mails, mailOf('bob@example.com')]);
  db.exec(`DELETE FROM raws; DELETE FROM entries WHERE lane LIKE 'ann%';
    DELETE FROM summaries WHERE seq <= 50`);
  const { traces } = await eraser.find({ person: ANN, others: true });
  await eraser.eraseRows(traces, { person: ANN, shops: [SHOP], waitMs: 0 });
  expect(bytesOf(db)).toContain('ann@example.com');
}

test('a file that was erased from is rewritten, once', async () => {
  const store = aStore();
  await leaveCopies(store);
  expect((await store.eraser.purge())['spool.db']).toBe('rewritten');
  expect(bytesOf(store.db)).not.toContain('ann@example.com');
  expect(bytesOf(store.db)).toContain('bob@example.com');
  expect((await store.eraser.purge())['spool.db']).toBe('clean');
});

test('a file from which two processes erase at once is rewritten after the last of them', async () => {
  const store = aStore();
  const { dir, db, operations, eraser } = store;
  const other = openEraser(dir);
  ends(() => other.close());
  operations.accept([mailOf('ann@example.com')]);
  const { traces } = await eraser.find({ person: ANN, others: false });
  db.prepare(`UPDATE entries SET state = 'delivering', lease_until = ?`).run(Date.now() + 60_000);
  // It waits for the delivery while the other process ends.
  const erasing = eraser.eraseRows(traces, { person: ANN, shops: [SHOP], waitMs: 300 });
  expect((await other.purge())['spool.db']).toBe('rewritten');
  await erasing;
  expect((await eraser.purge())['spool.db']).toBe('rewritten');
});

test('what was not rewritten beside a gateway is rewritten before the next one opens it', async () => {
  const store = aStore();
  await leaveCopies(store);
  store.db.close();
  store.eraser.close();
  const { spool } = await openSqliteStore({ dir: store.dir, role: 'owner', reserveBytes: 0 });
  await spool.close();
  const files = readdirSync(store.dir).filter((name) => name.startsWith('spool.db'));
  for (const name of files) {
    expect(readFileSync(join(store.dir, name), 'latin1')).not.toContain('ann@example.com');
  }
});

test("a gateway's checkpoint is waited for, for which SQLite itself does not wait", async () => {
  const { db, operations } = aStore();
  operations.accept([mailOf('ann@example.com')]);
  const log = () => statSync(`${db.name}-wal`).size;
  const checkpoint = db.pragma.bind(db);
  let tries = 0;
  // Another process copies the log back: it comes back at once, and says that it is busy.
  db.pragma = (...args) => (++tries <= 60 ? [{ busy: 1 }] : checkpoint(...args));
  await truncateLog(db);
  expect(log()).toBe(0);
});
