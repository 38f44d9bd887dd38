import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { EntryId } from '../../src/domain/ids.ts';
import { openPostgresStore, type PostgresStore } from '../../src/spool/postgres/open.ts';
import { anEntry } from '../support/entries.ts';
import { type Cluster, column, startCluster } from '../support/postgres-cluster.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { tempDir } from '../support/temp-dir.ts';

/** More than one page. */
const WHOLE = 230;

let cluster: Cluster;
let url: string;
let dir: ReturnType<typeof tempDir>;
let store: PostgresStore;

beforeAll(async () => {
  dir = tempDir();
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
  const scratchFolder = join(dir.path, 'scratch');
  store = await openPostgresStore({ url, instance: randomUUID(), scratchFolder });
  // The keys of a gateway, which a restore copies.
  const loaded = loadConfig({ file: configFor(url), env: {} });
  if (!loaded.ok) throw new Error('the configuration is not valid');
  await completeConfig(loaded.config);
});
afterAll(async () => {
  await store.spool.close();
  await cluster.stop();
  dir.remove();
});

async function acceptFile(text: string): Promise<EntryId> {
  const writer = store.spool.blobs.writer({ inlineMaxBytes: 0 });
  await pipeline(Readable.from([Buffer.from(text)]), writer);
  const entry = anEntry({ raw: await writer.commit() });
  await store.spool.accept([entry]);
  return entry.id;
}

const check = (...args: readonly string[]) =>
  sluiceHere(['backup', '--check', ...args, '--config', configFor(url)]);

function configFor(spoolUrl: string): string {
  const file = join(dir.path, 'sluice.yaml');
  writeFileSync(file, `dataDir: ${join(dir.path, 'data')}\nspool: {url: '${spoolUrl}'}\n`);
  return file;
}

test('backup --check reads every file that a restored database names', async () => {
  expect(await check()).toMatchObject({ code: 0, stdout: '0 files: complete\n' });
  for (let n = 0; n < WHOLE; n += 1) await acceptFile(`message ${n}`);
  expect(await check()).toMatchObject({ code: 0, stdout: `${WHOLE} files: complete\n` });

  const [missing, short, changed] = [
    await acceptFile('missing'),
    await acceptFile('short'),
    await acceptFile('changed'),
  ];
  const ofEntry = (id: EntryId) => `blob = (SELECT blob FROM entry WHERE id = '${id}')`;
  await column(url, `DELETE FROM blob_chunk WHERE ${ofEntry(missing)}`);
  await column(url, `UPDATE blob_chunk SET bytes = 'sho' WHERE ${ofEntry(short)}`);
  await column(url, `UPDATE blob_chunk SET bytes = 'CHANGED' WHERE ${ofEntry(changed)}`);
  const told = await check();
  expect(told.code).toBe(1);
  expect(told.stdout.trimEnd().split('\n').toSorted()).toEqual(
    [
      `entry ${missing}: its file is missing`,
      `entry ${short}: its file has 3 bytes instead of 5`,
      `entry ${changed}: its file is damaged`,
    ].toSorted(),
  );
  expect(told.stderr).toContain(`not complete: 3 of ${WHOLE + 3} files`);
  const { ok, files, problems } = JSON.parse((await check('--json')).stdout) as {
    readonly ok: boolean;
    readonly files: number;
    readonly problems: readonly string[];
  };
  expect([ok, files, problems.length]).toEqual([false, WHOLE + 3, 3]);
});

test('a backup needs a folder', async () => {
  const told = await sluiceHere(['backup', '--config', configFor(url)]);
  expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining('name a new folder') });
});
