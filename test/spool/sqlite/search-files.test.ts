import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EntryIndex } from '../../../src/spool/entry-index.ts';
import { SearchThreads } from '../../../src/spool/search/search-threads.ts';
import { IndexDatabase } from '../../../src/spool/search/index-database.ts';
import { openDatabase } from '../../../src/spool/sqlite/database.ts';
import { eraseFromIndex } from '../../../src/spool/search/open-search.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import type { Store } from '../../../src/spool/store.ts';
import type { EntryId } from '../../../src/domain/ids.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { lendBallast } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

let dir: ReturnType<typeof tempDir>;
interface Opened extends Store {
  readonly index: EntryIndex;
}
let opened: Opened[];
beforeEach(() => {
  dir = tempDir();
  lendBallast(dir.path);
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await close(store);
  dir.remove();
});

const open = async (role: 'owner' | 'beside' = 'owner'): Promise<Opened> => {
  const store = {
    ...(await openSqliteStore({ dir: dir.path, role, reserveBytes: 0 })),
    index: new SearchThreads({ dir: dir.path, role }),
  };
  opened.push(store);
  return store;
};
const close = async ({ index, spool }: Opened): Promise<void> => {
  await index.close();
  await spool.close();
};
const file = (name: string) => join(dir.path, name);
const mail = async ({ spool }: Store, from: string, subject = 'x'): Promise<EntryId> => {
  const bytes = Buffer.from(`From: ${from}\r\nSubject: ${subject}\r\n\r\nbody`);
  const entry = anEntry({ channel: 'email', raw: { kind: 'inline', bytes } });
  await spool.accept([entry]);
  return entry.id;
};
const find = async ({ index }: Opened, text: string) =>
  (await index.find({ text, limit: 100 })).found.map(({ entry }) => entry.id);
const expectFound = (store: Opened, text: string, ids: readonly EntryId[]) =>
  waitFor(text, async () => String(await find(store, text)) === String(ids), 20);

describe('the file of the index', () => {
  test('may be deleted between two runs', async () => {
    const first = await open();
    const id = await mail(first, 'ann@x.example');
    await expectFound(first, 'ann@x.example', [id]);
    await close(first);
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(file(`search/search.db${suffix}`), { force: true });
    await expectFound(await open(), 'ann@x.example', [id]);
  });

  test('may be deleted while it is used', async () => {
    const store = await open();
    const id = await mail(store, 'ann@x.example');
    await expectFound(store, 'ann@x.example', [id]);
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(file(`search/search.db${suffix}`), { force: true });
    const other = await mail(store, 'bob@x.example');
    await expectFound(store, 'x.example', [other, id]);
    expect(statSync(file('search/search.db')).size).toBeGreaterThan(0);
  });

  test.each([
    ['something else', () => Buffer.from('this is not a database '.repeat(1000))],
    ['empty', () => Buffer.alloc(0)],
    ['damaged in the middle', (whole: Buffer) => whole.fill(0xaa, 8192)],
    ['cut off', (whole: Buffer) => whole.subarray(0, 8192 * 3)],
  ])('that is %s is made anew', async (_what, damage) => {
    const first = await open();
    const id = await mail(first, 'ann@x.example');
    await expectFound(first, 'ann@x.example', [id]);
    await close(first);
    writeFileSync(file('search/search.db'), damage(readFileSync(file('search/search.db'))));
    await expectFound(await open(), 'ann@x.example', [id]);
  });

  test('of another version is made anew', async () => {
    const store = await open();
    const id = await mail(store, 'ann@x.example');
    await close(store);
    const index = new IndexDatabase(file('search/search.db'));
    index.db.pragma('user_version = 99');
    index.close();
    await expectFound(await open(), 'ann@x.example', [id]);
  });

  test('forgets what a spool from a backup does not have', async () => {
    const store = await open();
    const [one, two] = [await mail(store, 'ann@x.example'), await mail(store, 'bob@x.example')];
    await expectFound(store, 'x.example', [two, one]);
    await close(store);
    const db = openDatabase(file('spool.db'));
    db.exec(`DELETE FROM raws WHERE seq = 2; DELETE FROM summaries WHERE seq = 2;
      DELETE FROM entries WHERE seq = 2`);
    db.close();
    const later = await open();
    await expectFound(later, 'x.example', [one]);
    // Its number is given again.
    const three = await mail(later, 'eve@x.example');
    await expectFound(later, 'x.example', [three, one]);
    await expectFound(later, 'bob', []);
  });

  test('keeps up with changes that were made while no gateway ran', async () => {
    const owner = await open();
    const [one, two] = [await mail(owner, 'ann@x.example'), await mail(owner, 'bob@x.example')];
    await expectFound(owner, 'x.example', [two, one]);
    await close(owner);
    const db = openDatabase(file('spool.db'));
    db.exec(
      `UPDATE entries SET state = 'dead', reason = '{"code":"dmarc"}', settled_at = 1 WHERE seq = 1`,
    );
    db.close();
    const later = await open();
    const dead = async () => {
      const { found } = await later.index.find({ states: ['dead'], text: 'ann', limit: 9 });
      return found.map(({ entry }) => entry.id).join() === one;
    };
    await waitFor('the dead one', dead, 20);
  });
});

describe('a command', () => {
  test('finds what there is without a gateway', async () => {
    const owner = await open();
    const ids = [await mail(owner, 'ann@x.example'), await mail(owner, 'bob@x.example')];
    await close(owner);
    const command = await open('beside');
    expect(await find(command, 'x.example')).toEqual(ids.reverse());
    expect(await command.index.backlog()).toBe(0);
  });

  test('finds beside a gateway what has just come, and its own changes', async () => {
    const owner = await open();
    const command = await open('beside');
    const id = await mail(owner, 'ann@x.example');
    expect(await find(command, 'ann')).toEqual([id]);
    await command.spool.discard(id);
    const search = { text: 'ann', states: ['discarded'], limit: 1 } as const;
    expect((await command.index.find(search)).found).toHaveLength(1);
    const ofOwner = async () => (await owner.index.find(search)).found.length === 1;
    await waitFor('the change', ofOwner, 20);
  });
});

test('after rewriting, nothing of deleted entries is in any file', async () => {
  const store = await open();
  const kept = await mail(store, 'kept-person@x.example', 'kept-subject');
  const gone = await mail(store, 'gone-person@x.example', 'gone-subject');
  await expectFound(store, 'x.example', [gone, kept]);
  for (const { entry, lease } of await claimFrom(store.spool, SHOP, 10, 60_000)) {
    if (entry.id === gone) await store.spool.settle(lease, { state: 'delivered' }, { steps: [] });
  }
  await store.spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: -1 });
  await expectFound(store, 'x.example', [kept]);
  await eraseFromIndex(dir.path);
  const files = readdirSync(file('search'));
  const bytes = files
    .map((name) => readFileSync(file(join('search', name))).toString('latin1'))
    .join('');
  // A term is stored without what it begins with like the one before: the first word of these is whole.
  expect(bytes).toContain('kept');
  expect(bytes).not.toContain('gone');
  await expectFound(store, 'kept-person@x.example', [kept]);
});
