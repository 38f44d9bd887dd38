import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { beforeEach, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import type { RawForm } from '../../src/spool/entry.ts';
import { assertIntact, RawDamaged, RawUnreadable, withChecksum } from '../../src/spool/blobs.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openStore } from '../support/store.ts';
import { anEntry, claimFrom } from '../support/entries.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir = '';
let spool: Spool;

beforeEach(async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  dir = temp.path;
  ({ spool } = await openStore(dir));
  ends(() => spool.close());
});

async function stored(raw: RawForm): Promise<RawForm> {
  const entry = anEntry({ raw });
  await spool.accept([entry]);
  const found = await spool.raw(entry.id);
  if (found === undefined) throw new Error('no raw form');
  return found;
}

async function written(size: number): Promise<RawForm> {
  const writer = spool.blobs.writer();
  writer.write(Buffer.alloc(size / 2, 'abc'));
  writer.end(Buffer.alloc(size / 2, 'xyz'));
  await once(writer, 'finish');
  return writer.commit();
}

test.each([2000, 500_000])('%i bytes as they were received are intact', async (size) => {
  const raw = await stored(await written(size));
  expect(raw.checksum).toBeGreaterThan(0);
  await expect(assertIntact(raw, spool.blobs)).resolves.toBeUndefined();
});

test('one bit of a row is enough', async () => {
  const raw = await stored(withChecksum({ kind: 'inline', bytes: Buffer.from('received') }));
  const db = new Database(join(dir, 'spool.db'));
  db.exec(`UPDATE raws SET bytes = CAST('recejved' AS BLOB)`);
  db.close();
  await expect(assertIntact(raw, spool.blobs)).resolves.toBeUndefined();
  const entries = await claimFrom(spool, anEntry().shopId, 1, 1000);
  const [{ raw: read } = { raw }] = entries;
  await expect(assertIntact(read, spool.blobs)).rejects.toThrow(RawDamaged);
});

test.each([
  ['other bytes', (file: string) => writeFileSync(file, Buffer.alloc(500_000, 'abc'))],
  ['an end that is missing', (file: string) => truncateSync(file, 499_999)],
  [
    'an end that is zeros',
    (file: string) => {
      truncateSync(file, 400_000);
      truncateSync(file, 500_000);
    },
  ],
])('a file with %s is damaged', async (_what, damage) => {
  const raw = await stored(await written(500_000));
  if (raw.kind !== 'file') throw new Error('it is kept in its row');
  damage((await spool.blobs.scratch(raw.blob)).path);
  await expect(assertIntact(raw, spool.blobs)).rejects.toThrow(RawDamaged);
});

test('a file that is missing is another fault than a damaged one', async () => {
  const raw = await stored(await written(500_000));
  if (raw.kind !== 'file') throw new Error('it is kept in its row');
  await spool.blobs.remove(raw.blob);
  await expect(assertIntact(raw, spool.blobs)).rejects.toBeInstanceOf(RawUnreadable);
});
