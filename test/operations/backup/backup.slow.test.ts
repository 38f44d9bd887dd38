import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BackupRefused, checkBackup, makeBackup } from '../../../src/operations/backup/backup.ts';
import { openSqliteStore } from '../../../src/spool/sqlite/open.ts';
import type { Store } from '../../../src/spool/store.ts';
import { asEntryId } from '../../../src/domain/ids.ts';
import { ends } from '../../support/ends.ts';
import { anEntry } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const LARGE = Buffer.alloc(200_000, 'raw bytes ');

function folder(): string {
  const dir = tempDir();
  ends(() => dir.remove());
  return dir.path;
}

async function openStore(dir: string, role: 'owner' | 'beside' = 'owner'): Promise<Store> {
  const store = await openSqliteStore({ dir, role, reserveBytes: 0 });
  ends(() => store.spool.close());
  return store;
}

async function acceptLarge(store: Store, id: string): Promise<void> {
  const writer = store.spool.blobs.writer();
  const finished = new Promise((resolve, reject) =>
    writer.on('finish', resolve).on('error', reject),
  );
  writer.end(LARGE);
  await finished;
  await store.spool.accept([anEntry({ id: asEntryId(id), raw: await writer.commit() })]);
}

const backup = (dataDir: string, target: string) =>
  makeBackup({ dataDir, target, now: () => new Date(0), onProgress: () => undefined });

test('beside an open spool that goes on accepting, a backup is whole and has what was there', async () => {
  const dataDir = folder();
  const store = await openStore(dataDir);
  await acceptLarge(store, 'large');
  writeFileSync(join(dataDir, 'keys.json'), '{"some": "keys"}', { mode: 0o600 });
  for (let no = 0; no < 200; no += 1)
    await store.spool.accept([anEntry({ id: asEntryId(`before-${no}`) })]);

  const target = join(folder(), 'copy');
  const stop = new AbortController();
  const accepting = (async () => {
    for (let no = 0; !stop.signal.aborted; no += 1)
      await store.spool.accept([anEntry({ id: asEntryId(`during-${no}`) })]);
  })();
  const note = await backup(dataDir, target);
  stop.abort();
  await accepting;

  expect(await checkBackup(target)).toEqual([]);
  expect(note.entries).toBeGreaterThanOrEqual(201);
  const restored = await openStore(target);
  expect(await restored.spool.recover()).toMatchObject({ orphans: 0, missing: [] });
  const ids = (await restored.spool.list({ limit: 1000 })).map(({ id }) => String(id));
  expect(ids.filter((id) => id.startsWith('before-'))).toHaveLength(200);
  const large = (await restored.spool.list({ limit: 1000 })).find(
    ({ id }) => String(id) === 'large',
  );
  expect(large?.rawSize).toBe(LARGE.length);
});

test('only its owner can read it, and it has neither locks nor what is made again', async () => {
  const dataDir = folder();
  await acceptLarge(await openStore(dataDir), 'large');
  const target = join(folder(), 'copy');
  await backup(dataDir, target);
  const all = readdirSync(target, { recursive: true, withFileTypes: true });
  const modes = all.map((each) => statSync(join(each.parentPath, each.name)).mode & 0o077);
  expect(new Set([...modes, statSync(target).mode & 0o077])).toEqual(new Set([0]));
  expect(all.filter((each) => each.isFile()).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['spool.db', 'backup.json']),
  );
  expect(all.map(({ name }) => name).filter((name) => /lock|pid|ballast|-wal/.test(name))).toEqual(
    [],
  );
});

test.each([
  ['a folder that is not empty', (dataDir: string) => dataDir.replace(/[^/]+$/, '')],
  ['a folder in the data folder', (dataDir: string) => join(dataDir, 'backup')],
])('%s is refused', async (_what, targetOf) => {
  const dataDir = folder();
  await openStore(dataDir);
  await expect(backup(dataDir, targetOf(dataDir))).rejects.toThrow(BackupRefused);
});

test('where no gateway ran there is nothing to back up', async () => {
  const target = join(folder(), 'copy');
  await expect(backup(folder(), target)).rejects.toThrow('there is no spool');
});

test('a backup that fails leaves nothing behind', async () => {
  const dataDir = folder();
  await openStore(dataDir);
  const parent = folder();
  const failing = makeBackup({
    dataDir,
    target: join(parent, 'copy'),
    now: () => {
      throw new Error('no time');
    },
    onProgress: () => undefined,
  });
  await expect(failing).rejects.toThrow('no time');
  expect(readdirSync(parent)).toEqual([]);
});

/** A process of its own that is killed when it has copied the first file. */
async function killedBackup(dataDir: string, target: string): Promise<void> {
  const module = new URL('../../../dist/operations/backup/backup.js', import.meta.url).href;
  const script = `import { makeBackup } from ${JSON.stringify(module)};
    await makeBackup({
      ...${JSON.stringify({ dataDir, target })},
      now: () => new Date(),
      onProgress: () => process.kill(process.pid, 'SIGKILL'),
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  const [, signal] = (await once(child, 'exit')) as [unknown, string | null];
  expect(signal).toBe('SIGKILL');
}

test('what a killed backup left is removed by the next, and nothing else', async () => {
  const dataDir = folder();
  await acceptLarge(await openStore(dataDir), 'large');
  const parent = folder();
  const target = join(parent, 'copy');
  await killedBackup(dataDir, target);
  const [left = '', ...others] = readdirSync(parent);
  expect(left).toMatch(/^\.copy-/);
  expect(others).toEqual([]);
  // Somebody else's, and that of another data folder's backup.
  const stranger = '.copy-00000000-0000-4000-8000-000000000000';
  mkdirSync(join(parent, stranger));
  const elsewhere = folder();
  await acceptLarge(await openStore(elsewhere), 'large');
  await backup(elsewhere, join(parent, 'other'));
  expect(readdirSync(parent).sort()).toEqual([left, stranger, 'other'].sort());

  await backup(dataDir, target);
  expect(readdirSync(parent).sort()).toEqual([stranger, 'copy', 'other']);
  expect(readdirSync(dataDir).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('a backup leaves alone what another is making, and takes nothing from it', async () => {
  const dataDir = folder();
  await acceptLarge(await openStore(dataDir), 'large');
  const parent = folder();
  const second: Promise<unknown>[] = [];
  const first = makeBackup({
    dataDir,
    target: join(parent, 'first'),
    now: () => new Date(0),
    onProgress: () => second.push(backup(dataDir, join(parent, 'second'))),
  });
  await first;
  await Promise.all(second);
  expect(await checkBackup(join(parent, 'first'))).toEqual([]);
  expect(await checkBackup(join(parent, 'second'))).toEqual([]);
});

test('of two backups to one folder the later is refused', async () => {
  const dataDir = folder();
  await acceptLarge(await openStore(dataDir), 'large');
  const parent = folder();
  const target = join(parent, 'copy');
  const filled = makeBackup({
    dataDir,
    target,
    now: () => new Date(0),
    onProgress: () => {
      mkdirSync(target);
      writeFileSync(join(target, 'of-the-other'), '');
    },
  });
  await expect(filled).rejects.toThrow(BackupRefused);
  expect(readdirSync(parent)).toEqual(['copy']);
  expect(readdirSync(target)).toEqual(['of-the-other']);
});

test.each([
  ['is cut off', (file: string) => truncateSync(file, 1000), 'bytes instead of'],
  ['grew', (file: string) => appendFileSync(file, 'x'), 'bytes instead of'],
  ['is gone', (file: string) => rmSync(file), 'is missing'],
])('the check finds a file that %s', async (_what, harm, says) => {
  const dataDir = folder();
  await acceptLarge(await openStore(dataDir), 'large');
  const target = join(folder(), 'copy');
  await backup(dataDir, target);
  const [blob = ''] = readdirSync(join(target, 'blobs'));
  harm(join(target, 'blobs', blob));
  expect((await checkBackup(target)).join()).toContain(says);
});

test('the check finds a damaged database, a missing note, and a folder that is no backup', async () => {
  const dataDir = folder();
  await acceptLarge(await openStore(dataDir), 'large');
  const target = join(folder(), 'copy');
  await backup(dataDir, target);
  rmSync(join(target, 'backup.json'));
  expect(await checkBackup(target)).toEqual(['backup.json is missing or cannot be read']);
  truncateSync(join(target, 'spool.db'), 20_000);
  expect((await checkBackup(target)).join()).toContain('spool.db is damaged');
  expect((await checkBackup(folder())).join()).toContain('is not a backup');
});
