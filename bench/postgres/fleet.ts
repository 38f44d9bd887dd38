import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, withClient } from '../../test/support/postgres-cluster.ts';
import type * as WebhookLoad from '../load/webhooks.ts';
import type * as FastPlatform from '../platform/fast-platform.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import type { Part } from '../support/part.ts';
import { processSeconds, processTreeSeconds } from '../support/process-time.ts';
import type { Workbench } from '../support/workbench.ts';

/** Of senders, at each gateway. */
const CONNECTIONS = 50;
const DELIVERED_WITHIN_MS = 300_000;

/** Gateways with a database of their own. */
export interface Fleet {
  readonly url: string;
  readonly gateways: readonly Gateway[];
}

/** What one message cost, from its webhook to its delivery. */
export interface CostOfMessage {
  readonly perSecond: number;
  readonly statements: number;
  readonly nodeMs: number;
  readonly postgresMs: number;
  readonly walBytes: number;
}

export interface Stage {
  readonly cluster: Cluster;
  readonly platform: Part<typeof FastPlatform>;
  /** One load for each gateway. */
  readonly loads: readonly Part<typeof WebhookLoad>[];
}

export async function startFleet(
  bench: Workbench,
  { cluster, platform }: Stage,
  size: number,
): Promise<Fleet> {
  const url = await cluster.createDatabase();
  await withClient(url, (client) => client.query('CREATE EXTENSION pg_stat_statements'));
  const platformUrl = await platform.call('url');
  const gateways: Gateway[] = [];
  for (let n = 0; n < size; n += 1) {
    const dataDir = await bench.folder();
    const [first] = gateways;
    if (first !== undefined) {
      await copyFile(join(first.dataDir, 'keys.json'), join(dataDir, 'keys.json'));
    }
    gateways.push(
      await startGateway(bench, {
        platformUrl,
        paused: false,
        concurrency: 100,
        dataDir,
        spoolUrl: url,
      }),
    );
  }
  return { url, gateways };
}

/** Statements that the gateways sent, each of which is a round trip, and the position in the log. */
async function counted({ url }: Fleet): Promise<{ statements: number; wal: number }> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ statements: string; wal: string }>(
      `SELECT sum(calls) AS statements, pg_current_wal_insert_lsn() - '0/0' AS wal
       FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return { statements: Number(rows[0]?.statements), wal: Number(rows[0]?.wal) };
  });
}

/** Sends texts to all gateways at once and waits until all are delivered. */
export async function costOfMessage(
  { cluster, platform, loads }: Stage,
  fleet: Fleet,
  messages: number,
): Promise<CostOfMessage> {
  const { gateways } = fleet;
  const share = Math.ceil(messages / gateways.length);
  const used = loads.slice(0, gateways.length);
  await Promise.all(used.map((load) => load.call('prepare', share)));
  await platform.call('forget');
  const nodeSeconds = async () => {
    const all = await Promise.all(gateways.map(({ pid }) => processSeconds(pid)));
    return all.reduce((sum, each) => sum + each, 0);
  };
  const [before, node, postgres] = [
    await counted(fleet),
    await nodeSeconds(),
    await processTreeSeconds(cluster.pid),
  ];
  const begunAt = performance.now();
  await Promise.all(
    used.map((load, index) => load.call('run', gateways[index]?.httpPort ?? 0, CONNECTIONS)),
  );
  const sent = share * gateways.length;
  await platform.call('whenCount', sent, DELIVERED_WITHIN_MS);
  const seconds = (performance.now() - begunAt) / 1000;
  const after = await counted(fleet);
  return {
    perSecond: sent / seconds,
    statements: (after.statements - before.statements) / sent,
    nodeMs: (((await nodeSeconds()) - node) * 1000) / sent,
    postgresMs: (((await processTreeSeconds(cluster.pid)) - postgres) * 1000) / sent,
    walBytes: (after.wal - before.wal) / sent,
  };
}

/** Statements a second of one gateway without work. */
export async function idleStatements(fleet: Fleet, seconds: number): Promise<number> {
  const before = await counted(fleet);
  const begunAt = performance.now();
  await delay(seconds * 1000);
  const after = await counted(fleet);
  const passed = (performance.now() - begunAt) / 1000;
  return (after.statements - before.statements) / passed / fleet.gateways.length;
}
