/**
 * npm run bench -- postgres [--quick] [--only PART]
 *
 * Measures the store in PostgreSQL: what a claim costs with a thousand and with a million entries queued and
 * while another program keeps a transaction open; durable accepts, beside SQLite's in the same run; the
 * statements, processor time and log of a message with one gateway and with three. Exit code 1 if a
 * goal is missed. Parts: claims, held, intake, fleet.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openPostgresStore, type PostgresStore } from '../src/spool/postgres/open.ts';
import { type Cluster, startCluster, withClient } from '../test/support/postgres-cluster.ts';
import { openStore } from '../test/support/store.ts';
import type * as WebhookLoad from './load/webhooks.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { type Figure, printFigures } from './support/goals.ts';
import { readOptions } from './support/options.ts';
import { median } from './support/statistics.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';
import { churn, CLAIMED_AT_ONCE, type ClaimCost, costsOfClaims, fill } from './postgres/claims.ts';
import {
  type CostOfMessage,
  costOfMessage,
  idleStatements,
  type Stage,
  startFleet,
} from './postgres/fleet.ts';
import { acceptsPerSecond, loneAcceptMs } from './postgres/intake.ts';

const options = readOptions();
const { quick } = options;
const SETTINGS = [
  ...[`shared_buffers = '1GB'`, 'max_wal_size = 16GB', 'checkpoint_timeout = 1h'],
  ...['wal_compression = on', 'shared_preload_libraries = pg_stat_statements'],
];
const CLAIMS = 25;
/** Messages a second of a busy fleet: 26 million a day. */
const BUSY_PER_SECOND = 300;

interface Opened extends PostgresStore {
  readonly url: string;
  readonly client: pg.Client;
}

async function open(bench: Workbench, cluster: Cluster): Promise<Opened> {
  const url = await cluster.createDatabase();
  await withClient(url, (client) => client.query('CREATE EXTENSION pg_stat_statements'));
  const scratchFolder = await bench.folder();
  const store = await openPostgresStore({ url, instance: randomUUID(), scratchFolder });
  bench.onEnd('store', () => store.spool.close());
  const client = new pg.Client(url);
  await client.connect();
  bench.onEnd('connection', () => client.end());
  return { ...store, url, client };
}

/** A claim with many entries queued, compared with few. The measurements take turns. */
async function claims(bench: Workbench, cluster: Cluster): Promise<Figure[]> {
  const many = quick ? 100_000 : 1_000_000;
  const [small, large] = [await open(bench, cluster), await open(bench, cluster)];
  const rounds = quick ? 1 : 5;
  await fill(small.url, 1000);
  await fill(large.url, many);
  const ratios: { readonly of: ClaimCost; readonly over: ClaimCost }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [over, of] = await costsOfClaims([small, large], CLAIMS);
    if (over !== undefined && of !== undefined) ratios.push({ of, over });
    await fill(small.url, (CLAIMS + 6) * CLAIMED_AT_ONCE);
  }
  const middle = (value: (round: (typeof ratios)[number]) => number) => median(ratios.map(value));
  const what = `claim of ${CLAIMED_AT_ONCE}`;
  return [
    { what: `${what}, few queued: buffers`, value: middle(({ over }) => over.buffers) },
    { what: `${what}, ${many} queued: buffers`, value: middle(({ of }) => of.buffers) },
    { what: 'ratio', value: middle(({ of, over }) => of.buffers / over.buffers), atMost: 1.4 },
    { what: `${what}, few queued: ms`, value: middle(({ over }) => over.ms) },
    { what: `${what}, ${many} queued: ms`, value: middle(({ of }) => of.ms) },
    { what: 'ratio', value: middle(({ of, over }) => of.ms / over.ms), atMost: 1.5 },
  ];
}

/** A claim after another program has kept a transaction open during a busy fleet's traffic. */
async function held(bench: Workbench, cluster: Cluster): Promise<Figure[]> {
  const store = await open(bench, cluster);
  const { spool, url } = store;
  const queued = 2 * CLAIMS * CLAIMED_AT_ONCE + 1000;
  await fill(url, queued);
  await churn(spool, quick ? 5 : 60, BUSY_PER_SECOND);
  const [before] = await costsOfClaims([store], CLAIMS);
  const seconds = quick ? 30 : 600;
  const { after, messages } = await withClient(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT count(*) FROM lane');
    return {
      messages: await churn(spool, seconds, BUSY_PER_SECOND),
      after: (await costsOfClaims([store], CLAIMS))[0],
    };
  });
  if (before === undefined || after === undefined) throw new Error('one store, one cost');
  return [
    { what: 'messages while a transaction was open', value: messages },
    { what: 'buffers of a claim before', value: before.buffers },
    { what: `buffers of a claim after ${seconds} s`, value: after.buffers },
    { what: 'ratio', value: after.buffers / before.buffers, atMost: 3 },
    { what: 'ratio of the means', value: after.meanBuffers / before.meanBuffers },
    { what: 'ratio of the times', value: after.ms / before.ms, atMost: 3 },
  ];
}

async function intake(bench: Workbench, cluster: Cluster): Promise<Figure[]> {
  const { spool } = await open(bench, cluster);
  const sqlite = await openStore(await bench.folder());
  bench.onEnd('SQLite', () => sqlite.spool.close());
  const messages = quick ? 5000 : 40_000;
  const rounds: Record<'postgres' | 'sqlite' | 'lone' | 'sqliteLone', number>[] = [];
  for (let round = -1; round < (quick ? 1 : 5); round += 1) {
    const measured = {
      postgres: await acceptsPerSecond(spool, messages),
      sqlite: await acceptsPerSecond(sqlite.spool, messages),
      lone: await loneAcceptMs(spool, quick ? 50 : 300),
      sqliteLone: await loneAcceptMs(sqlite.spool, quick ? 50 : 300),
    };
    // The first round is a warm-up.
    if (round >= 0) rounds.push(measured);
  }
  const middle = (name: keyof (typeof rounds)[number]) => median(rounds.map((each) => each[name]));
  return [
    { what: 'accepts a second', value: middle('postgres'), atLeast: 8000 },
    {
      what: 'accepts a second, best round',
      value: Math.max(...rounds.map((each) => each.postgres)),
    },
    { what: 'ms of a lone accept', value: middle('lone'), atMost: 2 },
    { what: 'accepts a second, SQLite', value: middle('sqlite') },
    { what: 'ms of a lone accept, SQLite', value: middle('sqliteLone') },
  ];
}

/** The same number of messages through one gateway and through three, in turns. */
async function fleet(bench: Workbench, cluster: Cluster): Promise<Figure[]> {
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(at('./platform/fast-platform.ts'), {
    hashMedia: false,
  });
  const loads = [];
  for (let n = 0; n < 3; n += 1) {
    loads.push(await bench.part<typeof WebhookLoad>(at('./load/webhooks.ts'), undefined));
  }
  const stage: Stage = { cluster, platform, loads };
  const [one, three] = [await startFleet(bench, stage, 1), await startFleet(bench, stage, 3)];
  const idle = await idleStatements(three, quick ? 10 : 60);
  const messages = quick ? 3000 : 15_000;
  const rounds: { readonly one: CostOfMessage; readonly three: CostOfMessage }[] = [];
  for (let round = -1; round < (quick ? 1 : 3); round += 1) {
    // In the warm-up each gateway carries the same number: with a third of it, V8 would have optimized less of each.
    const measured = {
      one: await costOfMessage(stage, one, messages),
      three: await costOfMessage(stage, three, round < 0 ? 3 * messages : messages),
    };
    if (round >= 0) rounds.push(measured);
  }
  const figures: Figure[] = [
    { what: 'statements a second of an idle gateway', value: idle, atMost: 5 },
  ];
  for (const name of ['perSecond', 'statements', 'nodeMs', 'postgresMs', 'walBytes'] as const) {
    const middle = (size: 'one' | 'three') => median(rounds.map((each) => each[size][name]));
    const ratio = median(rounds.map((each) => each.three[name] / each.one[name]));
    const isPerMessage = name !== 'perSecond';
    const what = isPerMessage ? `${name} a message` : 'messages a second';
    const goal = name === 'statements' ? { atMost: 0.2 } : {};
    figures.push(
      { what: `${what}, one gateway`, value: middle('one'), ...goal },
      { what: `${what}, three`, value: middle('three'), ...goal },
    );
    if (isPerMessage && name !== 'statements')
      figures.push({ what: 'ratio', value: ratio, atMost: 1.15 });
  }
  return figures;
}

const PARTS = { claims, held, intake, fleet };

await withWorkbench(async (bench) => {
  const cluster = await startCluster({ settings: SETTINGS });
  bench.onEnd('PostgreSQL', () => cluster.stop());
  for (const [name, part] of Object.entries(PARTS)) {
    if (!name.includes(options.only)) continue;
    console.log(`\n${name}`);
    if (!printFigures(await part(bench, cluster))) process.exitCode = 1;
  }
});
