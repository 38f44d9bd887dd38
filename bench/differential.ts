// npm run bench -- differential [--seeds 2000] [--first 1]: random calls, the same on SQLite and on PostgreSQL. Prints
// each call that they answer differently, and exits with 1 if there is one.
import { parseArgs } from 'node:util';
import { openPostgresStore } from '../src/spool/postgres/open.ts';
import { openEraser } from '../src/spool/sqlite/erasure.ts';
import { openStore } from '../test/support/store.ts';
import { eraseOne } from '../test/support/differential/erasure-calls.ts';
import { play } from '../test/support/differential/play.ts';
import { startCluster } from '../test/support/postgres-cluster.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    first: { type: 'string', default: '1' },
  },
});
const SHOWN = 10;
/** Some calls read whole tables, so the stores are new after so many. */
const SEEDS_A_STORE = 100;

await withWorkbench(async (bench) => {
  const cluster = await startCluster({ settings: ['fsync = off'] });
  bench.onEnd('database', () => cluster.stop());
  let differences = 0;
  const [first, seeds] = [Number(values.first), Number(values.seeds)];
  for (let seed = first; seed < first + seeds;) {
    const dir = await bench.folder();
    const sqlite = await openStore(dir);
    const postgres = await openPostgresStore({
      ...{ url: await cluster.createDatabase(), instance: '00000000-0000-4000-8000-00000000000a' },
      scratchFolder: await bench.folder(),
    });
    const eraser = openEraser(dir);
    const stores = [
      { ...sqlite, eraser },
      { ...postgres, eraser: postgres.openEraser() },
    ] as const;
    for (const store of stores) await eraseOne(store);
    const end = Math.min(first + seeds, seed + SEEDS_A_STORE);
    for (; seed < end; seed += 1) {
      const difference = await play(seed, stores);
      if (difference === undefined) continue;
      differences += 1;
      if (differences <= SHOWN) console.log(JSON.stringify(difference));
    }
    eraser.close();
    await sqlite.spool.close();
    await postgres.spool.close();
    console.error(`${seed - first} of ${seeds}`);
  }
  console.log(`${seeds} sequences, ${differences} in which the stores differ`);
  if (differences > 0) process.exitCode = 1;
});
