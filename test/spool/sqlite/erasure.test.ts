import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readPerson } from '../../../src/cli/erase-person.ts';
import type { EntryMeta } from '../../../src/spool/entry.ts';
import { SharedLock } from '../../../src/spool/locks.ts';
import { type Db, openDatabase } from '../../../src/spool/sqlite/database.ts';
import { SpoolEraser } from '../../../src/spool/sqlite/erasure.ts';
import { truncateLog } from '../../../src/spool/sqlite/erasure-bytes.ts';
import { createOperations } from '../../../src/spool/sqlite/operations.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, claimDirectly, SHOP, because } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const INBOX = 'support@acme.example';
const ANN = readPerson('ann@example.com', []);

/** A gateway's connection, and what erases beside it. */
function aStore() {
  const dir = tempDir();
  ends(() => dir.remove());
  const db = openDatabase(join(dir.path, 'spool.db'));
  ends(() => db.close());
  const store = createOperations(db, Date.now);
  const eraser = SpoolEraser.open(dir.path);
  ends(() => eraser.close());
  return { dir: dir.path, db, eraser, ...store };
}

function mailOf(address: string, change: { key?: string; meta?: EntryMeta } = {}) {
  return anEntry({
    channel: 'email',
    lane: `${address} ${INBOX}`,
    meta: { agentContact: INBOX, ...change.meta },
    raw: { kind: 'inline', bytes: Buffer.from(`From: ${address}\r\n\r\nHello`) },
    ...(change.key !== undefined && { dedupKey: change.key }),
  });
}

const find = (eraser: SpoolEraser) => eraser.find({ person: ANN, others: true });
const eraseAll = async (eraser: SpoolEraser, waitMs = 0) =>
  eraser.eraseRows((await find(eraser)).traces, { person: ANN, shops: [SHOP], waitMs });
const bytesOf = (db: Db): string => {
  db.pragma('wal_checkpoint(TRUNCATE)');
  return readFileSync(db.name, 'latin1');
};

test('an attempt under way finds its lease lost, and brings nothing back', async () => {
  const { operations, erased, eraser } = aStore();
  const entry = mailOf('ann@example.com');
  operations.accept([entry]);
  const [claimed] = claimDirectly(operations, SHOP, 1, 60_000);
  if (claimed === undefined) throw new Error('nothing was claimed');
  expect((await eraseAll(eraser)).inFlight).toMatchObject([{ id: entry.id }]);

  erased.refresh();
  const outcome = { state: 'delivered', conversationId: 'c' } as const;
  expect(operations.settle(claimed.lease, outcome, { steps: [{ at: 1, step: 'delivered' }] })).toBe(
    false,
  );
  expect(operations.saveMedia(claimed.lease, 'part', { id: 'm' })).toBe(false);
  expect(operations.rememberConversation(claimed.entry, 'c')).toBe(false);
  expect(operations.timeline(entry.id)).toEqual([]);
  expect((await find(eraser)).traces).toEqual({
    ...{ entries: [], visitors: [], conversations: [], optOuts: [], notes: [] },
  });
});

test('an attempt that ends in time is waited for', async () => {
  const { operations, eraser } = aStore();
  operations.accept([mailOf('ann@example.com')]);
  const [claimed] = claimDirectly(operations, SHOP, 1, 60_000);
  const erasing = eraseAll(eraser, 60_000);
  setTimeout(() => {
    if (claimed)
      operations.settle(claimed.lease, { state: 'dead', reason: because('no') }, { steps: [] });
  }, 300);
  expect((await erasing).inFlight).toEqual([]);
});

test('the next entry of a lane that was in the way of nobody else is claimed', async () => {
  const { operations, eraser } = aStore();
  const bounces = { channel: 'email', lane: 'event/mailer', kind: 'event' } as const;
  const about = (email: string) =>
    anEntry({
      ...bounces,
      raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify({ contact: { email } })) },
    });
  const others = about('bob@example.com');
  operations.accept([about('Ann@example.com'), others]);
  claimDirectly(operations, SHOP, 0, 0);
  await eraseAll(eraser);
  expect(claimDirectly(operations, SHOP, 9, 60_000).map(({ entry }) => entry.id)).toEqual([
    others.id,
  ]);
});

test('what comes again is known by its keyed hash, after the key is read anew too', async () => {
  const { dir, db, operations, erased, eraser } = aStore();
  const entry = mailOf('ann@example.com', { key: 'same' });
  const again = () => ({ ...mailOf('ann@example.com', { key: 'same' }), remoteId: entry.remoteId });
  operations.accept([entry]);
  await eraseAll(eraser);
  erased.refresh();
  // The running gateway has it in memory still; the next one has not.
  for (const { accept } of [operations, createOperations(db, Date.now).operations]) {
    expect(accept([again()])).toEqual([{ id: entry.id, duplicate: true }]);
  }
  const { operations: next } = createOperations(db, Date.now);
  expect(next.knownKeys(SHOP, 'email', ['same', 'other'])).toEqual(new Set(['same']));
  expect(next.knownEmailIds(SHOP, [entry.remoteId, 'x'])).toEqual(new Set([entry.remoteId]));
  const taken = { ...mailOf('b@example.com'), remoteId: entry.remoteId, remoteIdIfTaken: 'mine' };
  next.accept([taken]);
  expect(next.get(taken.id)?.remoteId).toBe('mine');
  expect(statSync(join(dir, 'erasure-key.json')).mode & 0o777).toBe(0o600);
});

test('who opted out stays out until he comes back', async () => {
  const { db, operations, erased, eraser } = aStore();
  const number = readPerson('+14155552671', []);
  const lane = 'AC1/sms/+15550001111/+14155552671';
  operations.optOut(SHOP, lane, 'SM1');
  const { traces } = await eraser.find({ person: number, others: false });
  await eraser.eraseRows(traces, { person: number, shops: [SHOP], waitMs: 0 });
  erased.refresh();
  expect(operations.isOptedOut(SHOP, lane)).toBe(true);
  expect(operations.isOptedOut(SHOP, `${lane}9`)).toBe(false);
  expect(bytesOf(db)).not.toContain('4155552671');
  expect(operations.optIn(SHOP, lane, 'SM2')).toBe(true);
  expect(operations.isOptedOut(SHOP, lane)).toBe(false);
});

test("what was written of others' entries is blackened; their own words are listed", async () => {
  const { operations, eraser } = aStore();
  const bobs = mailOf('bob@example.com', { meta: { receivedHeader: 'for ann+x@EXAMPLE.com' } });
  operations.accept([bobs]);
  const [claimed] = claimDirectly(operations, SHOP, 1, 60_000);
  if (claimed === undefined) throw new Error('nothing was claimed');
  operations.settle(
    claimed.lease,
    { state: 'dead', reason: because('400 ann@example.com is no') },
    { steps: [{ at: 1, step: 'refused', detail: { answer: 'ann@example.com', status: 400 } }] },
  );
  expect((await find(eraser)).mentions).toMatchObject([{ id: bobs.id, where: ['header'] }]);
  await eraseAll(eraser);
  expect(operations.get(bobs.id)?.reason).toEqual(because('[erased]'));
  expect(operations.timeline(bobs.id).at(-1)).toEqual({
    ...{ at: 1, step: 'refused', detail: { answer: '[erased]', status: 400 } },
  });
});

test('what a platform said of late, which may quote a message, is blackened too', async () => {
  const { db, operations, eraser } = aStore();
  const said = (reason: string) => ({ state: 'open', reason, lastProbe: { at: 1, reason } });
  operations.saveShopHealth(SHOP, {
    messages: said('400 "ann@example.com is no address"'),
    media: said('400 "bob@example.com is no address"'),
  });
  await eraseAll(eraser);
  expect(operations.shopHealth(SHOP)).toEqual({
    messages: said('[erased]'),
    media: said('400 "bob@example.com is no address"'),
  });
  await eraser.purge(ANN);
  expect(bytesOf(db)).not.toContain('ann@example.com');
});

test('a name is seen behind a line break in JSON, and blackened there', async () => {
  const { operations, eraser } = aStore();
  const bobs = anEntry({
    raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify([['Body', 'Hi\nann@example.com']])) },
  });
  operations.accept([bobs]);
  const [claimed] = claimDirectly(operations, SHOP, 1, 60_000);
  if (claimed === undefined) throw new Error('nothing was claimed');
  const answer = 'no such person:\nann@example.com';
  operations.settle(
    claimed.lease,
    { state: 'dead', reason: because('refused') },
    { steps: [{ at: 1, step: 'refused', detail: { answer, status: 400 } }] },
  );
  const { mentions, traces } = await find(eraser);
  expect(mentions).toMatchObject([{ id: bobs.id, where: ['body'] }]);
  expect(traces.notes).toHaveLength(1);
  await eraseAll(eraser);
  expect(operations.timeline(bobs.id).at(-1)?.detail).toEqual({ answer: '[erased]', status: 400 });
  expect((await find(eraser)).traces.notes).toEqual([]);
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

test('a database from before bytes were overwritten is written anew, once', async () => {
  const { db, operations, eraser } = aStore();
  db.pragma('secure_delete = OFF');
  db.exec(`DELETE FROM marks`);
  const mails = Array.from({ length: 50 }, () => mailOf('ann@example.com'));
  operations.accept([...mails, mailOf('bob@example.com')]);
  db.exec(`DELETE FROM raws; DELETE FROM entries WHERE lane LIKE 'ann%';
    DELETE FROM summaries WHERE seq <= 50`);
  expect(bytesOf(db)).toContain('ann@example.com');
  expect(await eraser.purge(ANN)).toBe('rewritten');
  expect(bytesOf(db)).not.toContain('ann@example.com');
  expect(bytesOf(db)).toContain('bob@example.com');
  expect(await eraser.purge(ANN)).toBe('clean');
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

test('copies that were left behind in unused space are found', async () => {
  const { db, operations, eraser } = aStore();
  operations.accept([mailOf('bob@example.com')]);
  db.pragma('secure_delete = OFF');
  operations.accept(Array.from({ length: 20 }, () => mailOf('ann@example.com')));
  db.exec(`DELETE FROM raws WHERE seq > 1; DELETE FROM summaries WHERE seq > 1;
    DELETE FROM entries WHERE seq > 1`);
  expect(await eraser.purge(ANN)).toBe('rewritten');
  expect(bytesOf(db)).not.toContain('ann@example.com');
});
