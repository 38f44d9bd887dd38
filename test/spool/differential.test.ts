import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openPostgresStore } from '../../src/spool/postgres/open.ts';
import { openEraser } from '../../src/spool/sqlite/erasure.ts';
import { eraseOne } from '../support/differential/erasure-calls.ts';
import { play } from '../support/differential/play.ts';
import { ends } from '../support/ends.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { openStore } from '../support/store.ts';
import { tempDir } from '../support/temp-dir.ts';

/** `npm run bench -- differential` plays more of them. */
const SEQUENCES = 100;

test('the same calls, late and out of order, have the same answers in SQLite and PostgreSQL', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const sqlite = await openStore(dir.path);
  ends(() => sqlite.spool.close());
  const cluster = await startCluster({ settings: ['fsync = off'] });
  ends(() => cluster.stop());
  const postgres = await openPostgresStore({
    url: await cluster.createDatabase(),
    instance: '00000000-0000-4000-8000-00000000000a',
    scratchFolder: join(dir.path, 'scratch'),
  });
  ends(() => postgres.spool.close());
  const eraser = openEraser(dir.path);
  ends(() => eraser.close());
  const stores = [
    { ...sqlite, eraser },
    { ...postgres, eraser: postgres.openEraser() },
  ] as const;
  for (const store of stores) await eraseOne(store);
  for (let seed = 1; seed <= SEQUENCES; seed += 1) {
    expect(await play(seed, stores)).toBeUndefined();
  }
});
