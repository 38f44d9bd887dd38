import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { createOperations, runBatch, StoreFailed } from '../../../src/spool/sqlite/operations.ts';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import { anEntry, claimDirectly, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
beforeEach(() => {
  dir = tempDir();
});
afterEach(() => dir.remove());

const options = () => ({ dir: dir.path, role: 'owner', reserveBytes: 0 }) as const;
const file = () => join(dir.path, 'spool.db');

describe('opening the database', () => {
  test('synchronous is FULL on a new database and on one that is opened again', () => {
    for (const time of ['new', 'again']) {
      const db = openDatabase(file());
      expect([time, db.pragma('synchronous', { simple: true })]).toEqual([time, 2]);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      db.close();
    }
  });

  test('the driver by itself would open it again at NORMAL, which is why it is set', () => {
    openDatabase(file()).close();
    const bare = new Database(file());
    expect(bare.pragma('synchronous', { simple: true })).toBe(1);
    bare.close();
  });

  test('a database of a newer version is refused by name', async () => {
    const db = openDatabase(file());
    db.pragma('user_version = 99');
    db.close();
    await expect(openSqliteStore(options())).rejects.toMatchObject({
      name: 'SpoolUnusable',
      message: expect.stringContaining('newer version (schema 99'),
    });
  });

  test.each([
    ['cut off in the middle', (bytes: number) => Math.floor(bytes / 2)],
    ['cut off in the first page', () => 1000],
  ])('a file that is %s is refused, not repaired', async (_name, cut) => {
    const store = await openSqliteStore(options());
    const raw = { kind: 'inline', bytes: Buffer.alloc(60_000) } as const;
    await store.spool.accept(Array.from({ length: 20 }, () => anEntry({ raw })));
    await store.spool.close();
    truncateSync(file(), cut(readFileSync(file()).length));
    await expect(openSqliteStore(options())).rejects.toMatchObject({ name: 'SpoolUnusable' });
  });

  test('a file that is something else is refused', async () => {
    writeFileSync(file(), 'this is not a database, it is a letter to somebody '.repeat(100));
    await expect(openSqliteStore(options())).rejects.toMatchObject({ name: 'SpoolUnusable' });
  });
});

describe('the lock', () => {
  test('a second gateway on the same folder is told who has it', async () => {
    const store = await openSqliteStore(options());
    await expect(openSqliteStore(options())).rejects.toMatchObject({
      name: 'SpoolUnusable',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await store.spool.close();
    await (await openSqliteStore(options())).spool.close();
  });

  test('it ends with a process that was killed', async () => {
    const script = `
      import { DataFolderLock } from ${JSON.stringify(new URL('../../../dist/spool/locks.js', import.meta.url).href)};
      DataFolderLock.take(${JSON.stringify(dir.path)});
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(child.signal).toBe('SIGKILL');
    await (await openSqliteStore(options())).spool.close();
  });

  test('a command works beside the owner', async () => {
    const owner = await openSqliteStore(options());
    const entry = anEntry();
    await owner.spool.accept([entry]);
    const command = await openSqliteStore({ ...options(), role: 'beside' });
    expect(await command.spool.discard(entry.id)).toBe(true);
    expect((await owner.spool.get(entry.id))?.state).toBe('discarded');
    await command.spool.close();
    await owner.spool.close();
  });
});

describe('group commit', () => {
  test('what arrives while a commit runs shares the next one', async () => {
    const commits: number[] = [];
    const store = await openSqliteStore({
      ...options(),
      onCommit: (_s, calls) => commits.push(calls),
    });
    await Promise.all(Array.from({ length: 40 }, () => store.spool.accept([anEntry()])));
    expect(commits.reduce((sum, calls) => sum + calls, 0)).toBe(40);
    // The thread begins before all of them are made; what is left shares the commits after it.
    expect(commits.length).toBeLessThanOrEqual(3);
    commits.length = 0;
    await store.spool.accept([anEntry()]);
    expect(commits).toEqual([1]);
    await store.spool.close();
  });

  test('a faulty call fails alone, the others of its batch are stored', async () => {
    const store = await openSqliteStore(options());
    const good = [anEntry(), anEntry()];
    const faulty = anEntry({ kind: null as never });
    const results = await Promise.allSettled(
      [good[0], faulty, good[1]].map((entry) => store.spool.accept([entry ?? anEntry()])),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.spool.list({ limit: 10 })).toHaveLength(2);
    await store.spool.close();
  });

  test('an I/O error ends the store instead of failing one call', () => {
    const db = openDatabase(file());
    const { operations, ...others } = createOperations(db, Date.now);
    const broken = {
      ...operations,
      probe: () => {
        throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
      },
    };
    const calls = [{ id: 1, name: 'probe', args: [] }] as const;
    expect(() => runBatch({ ...others, operations: broken }, calls)).toThrow(StoreFailed);
    db.close();
  });

  test('a full disk fails the call as full and keeps the store', () => {
    const db = openDatabase(file());
    const store = createOperations(db, Date.now);
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 2}`);
    const accept = (bytes: number) =>
      runBatch(store, [
        {
          id: 1,
          name: 'accept',
          args: [[anEntry({ raw: { kind: 'inline', bytes: Buffer.alloc(bytes) } })]],
        },
      ])[0];
    expect(accept(60_000)).toMatchObject({ ok: false, kind: 'full' });
    expect(accept(10)).toMatchObject({ ok: true });
    db.close();
  });
});

describe('a backlog of entries that are not filed', () => {
  const limits = { mostFresh: 20, filedAtOnce: 5 };
  const filedIds = (db: Database.Database) =>
    db.prepare(`SELECT id FROM entries WHERE filed = 1 ORDER BY seq`).pluck().all();

  test('is filed in portions, the oldest first, and each of them stays known', () => {
    const db = openDatabase(file());
    const { operations, fresh } = createOperations(db, Date.now, limits);
    const entries = Array.from({ length: 32 }, () => anEntry({ lane: 'one' }));
    for (const entry of entries) operations.accept([entry]);
    const ids = entries.map(({ id }) => id);
    expect(filedIds(db)).toEqual(ids.slice(0, 10));
    expect(fresh.count).toBe(22);
    expect(entries.map((entry) => operations.accept([{ ...entry }])[0]?.duplicate)).not.toContain(
      false,
    );
    expect(claimDirectly(operations, SHOP, 50, 60_000).map(({ entry }) => entry.id)).toEqual([
      ids[0],
    ]);
    db.close();
  });

  test('is counted anew when another process has discarded some of it', () => {
    const db = openDatabase(file());
    const { operations, fresh } = createOperations(db, Date.now, limits);
    const entries = Array.from({ length: 24 }, () => anEntry());
    operations.accept(entries);
    const other = openDatabase(file());
    const elsewhere = createOperations(other, Date.now, limits).operations;
    for (const { id } of entries.slice(0, 22)) elsewhere.discard(id);
    other.close();
    const last = anEntry();
    operations.accept([last]);
    expect(filedIds(db)).toHaveLength(25);
    expect(fresh.count).toBe(0);
    db.close();
  });
});
