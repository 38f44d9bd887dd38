import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import type { BlobWriter } from '../../src/spool/blob-writer.ts';
import { SharedLock } from '../../src/spool/locks.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { ends } from '../support/ends.ts';
import { anEntry, claimFrom, SHOP } from '../support/entries.ts';
import { tempDir } from '../support/temp-dir.ts';

async function ownerAndBeside() {
  const dir = tempDir();
  ends(() => dir.remove());
  const open = async (role: 'owner' | 'beside') => {
    const { spool } = await openSqliteStore({ dir: dir.path, role, reserveBytes: 0 });
    ends(() => spool.close());
    return spool;
  };
  return { dir: dir.path, owner: await open('owner'), beside: await open('beside') };
}

const LARGE = Buffer.alloc(300_000, 'raw ');

/** A writer that has taken these bytes. */
async function written(spool: Spool, bytes = LARGE): Promise<BlobWriter> {
  const writer = spool.blobs.writer();
  ends(() => writer.abort());
  await new Promise((resolve) => writer.write(bytes, resolve));
  return writer;
}

async function finished(writer: BlobWriter) {
  await new Promise<void>((resolve) => writer.end(resolve));
  return writer.commit();
}

test('what one process has accepted is a duplicate in the other, filed or not', async () => {
  const { owner, beside } = await ownerAndBeside();
  const first = anEntry({ dedupKey: 'first' });
  const second = anEntry({ dedupKey: 'second' });
  expect(await owner.accept([first])).toEqual([{ id: first.id, duplicate: false }]);
  expect(await beside.accept([anEntry({ dedupKey: 'first' })])).toEqual([
    { id: first.id, duplicate: true },
  ]);
  expect(await beside.accept([second])).toEqual([{ id: second.id, duplicate: false }]);
  expect(await owner.accept([anEntry({ dedupKey: 'second' })])).toEqual([
    { id: second.id, duplicate: true },
  ]);
  const claimed = await claimFrom(owner, SHOP, 10, 60_000);
  expect(claimed.map(({ entry }) => entry.id)).toEqual([first.id, second.id]);
});

test('after each commit with new messages, a command leaves the lock to the gateway', async () => {
  const { beside } = await ownerAndBeside();
  const started = performance.now();
  for (let n = 0; n < 20; n += 1) await beside.accept([anEntry()]);
  // At least 10 ms between two of them.
  expect(performance.now() - started).toBeGreaterThanOrEqual(19 * 10);
});

test('a command reads while another process writes', async () => {
  const { dir, owner, beside } = await ownerAndBeside();
  const entry = anEntry();
  await owner.accept([entry]);
  const writer = new Database(join(dir, 'spool.db'));
  ends(() => writer.close());
  writer.exec('BEGIN IMMEDIATE');
  expect((await beside.list({ limit: 10 })).map(({ id }) => id)).toEqual([entry.id]);
  expect(await beside.raw(entry.id)).toBeDefined();
  expect(await beside.shopHealth(SHOP)).toBeUndefined();
});

test('a lane keeps the order of arrival, whichever process took it in', async () => {
  const { owner, beside } = await ownerAndBeside();
  const entries = Array.from({ length: 6 }, () => anEntry({ lane: 'one lane' }));
  for (const [index, entry] of entries.entries()) {
    await (index % 2 === 0 ? owner : beside).accept([entry]);
  }
  const order: string[] = [];
  for (;;) {
    const [claimed, ...others] = await claimFrom(owner, SHOP, 10, 60_000);
    expect(others).toEqual([]);
    if (claimed === undefined) break;
    order.push(claimed.entry.id);
    await owner.settle(claimed.lease, { state: 'delivered' }, { steps: [] });
  }
  expect(order).toEqual(entries.map(({ id }) => id));
});

test('a gateway that starts takes no file away that a command is about to name', async () => {
  const { dir, owner, beside } = await ownerAndBeside();
  const [first, second] = [await written(beside), await written(beside)];
  const raw = await finished(first);
  // One file is whole and has no row yet, the other is half written.
  expect(await owner.recover()).toEqual({ requeued: 0, orphans: 0, missing: [] });
  const entries = [anEntry({ raw }), anEntry({ raw: await finished(second) })];
  for (const entry of entries) {
    await beside.accept([entry]);
    const stored = await owner.raw(entry.id);
    if (stored?.kind !== 'file') throw new Error('it is no file');
    expect(await buffer(owner.blobs.read(stored.blob))).toEqual(LARGE);
  }
  expect(readdirSync(join(dir, 'blobs'))).toHaveLength(2);
});

test('what a command left without a row is taken away once the command has ended', async () => {
  const { dir, owner, beside } = await ownerAndBeside();
  const named = anEntry({ raw: await finished(await written(beside)) });
  await beside.accept([named]);
  await finished(await written(beside));
  await written(beside);
  expect(await owner.recover()).toMatchObject({ orphans: 0 });
  await beside.close();
  expect(await owner.recover()).toEqual({ requeued: 0, orphans: 2, missing: [] });
  expect(readdirSync(join(dir, 'blobs'))).toHaveLength(1);
});

test('a command begins its first file when the sweep of a start is over', async () => {
  const { dir, beside } = await ownerAndBeside();
  const order: string[] = [];
  let writing: Promise<unknown> | undefined;
  await new SharedLock(join(dir, 'blobs.lock')).whileAlone(async (isAlone) => {
    expect(isAlone).toBe(true);
    writing = written(beside).then(() => order.push('written'));
    await beside.counts();
    expect(readdirSync(join(dir, 'blobs'))).toEqual([]);
    order.push('swept');
  });
  await writing;
  expect(order).toEqual(['swept', 'written']);
});
