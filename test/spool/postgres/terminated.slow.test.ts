import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SpoolUnavailable, SpoolUnusable } from '../../../src/spool/errors.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { type Cluster, startCluster, withClient } from '../../support/postgres-cluster.ts';
import { PostgresProxy, TERMINATED } from '../../support/postgres-proxy.ts';
import { tempDir } from '../../support/temp-dir.ts';

const LEASE_MS = 45_000;

let cluster: Cluster;
const dir = tempDir();
beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
});
afterAll(async () => {
  await cluster.stop();
  dir.remove();
});

/** What a gateway does: it makes the schema, listens, accepts, claims and settles. */
async function use(url: string): Promise<void> {
  const store = await openPostgresStore({
    ...{ url, instance: randomUUID(), scratchFolder: join(dir.path, randomUUID()) },
  });
  try {
    store.signals.subscribe({ onHint: () => undefined, onPoll: () => undefined });
    await store.spool.recover();
    await store.spool.accept([anEntry()]);
    const [claimed] = await claimFrom(store.spool, SHOP, 1, LEASE_MS);
    if (claimed !== undefined) {
      await store.spool.settle(claimed.lease, { state: 'delivered' }, { steps: [] });
    }
  } finally {
    await store.spool.close();
  }
}

/**
 * The server ends a connection behind its nth message, in the same segment. An error event that nobody listens to
 * would end this process. Whatever becomes of it, the next one is served.
 * @returns whether there was an nth
 */
async function isTerminatedAt(at: number, url: string): Promise<boolean> {
  let [seen, isReached] = [0, false];
  const proxy = await PostgresProxy.start(url, () => (message) => {
    seen += 1;
    isReached ||= seen === at;
    return seen === at ? Buffer.concat([message, TERMINATED]) : message;
  });
  try {
    await use(proxy.url).catch((error: unknown) => {
      const isKnown = error instanceof SpoolUnavailable || error instanceof SpoolUnusable;
      if (!isKnown) throw error;
    });
  } finally {
    proxy.stop();
  }
  return isReached;
}

const AT_ONCE = 4;

/** @returns how many messages of the server there were */
async function terminatedAtEach(databaseOf: () => Promise<string>): Promise<number> {
  for (let from = 1; ; from += AT_ONCE) {
    const places = Array.from({ length: AT_ONCE }, (_, n) => from + n);
    const reached = await Promise.all(
      places.map(async (at) => isTerminatedAt(at, await databaseOf())),
    );
    const end = reached.indexOf(false);
    if (end !== -1) return from + end - 1;
  }
}

test('a connection that ends behind any message of the server ends no process', async () => {
  const url = await cluster.createDatabase();
  await use(url);
  expect(await terminatedAtEach(() => Promise.resolve(url))).toBeGreaterThan(50);
}, 600_000);

test('nor does one that ends while the schema is made', async () => {
  expect(await terminatedAtEach(() => cluster.createDatabase())).toBeGreaterThan(50);
}, 600_000);

test('the server has let go of every connection when a store is closed', async () => {
  const url = await cluster.createDatabase();
  // On a connection that is there already, since a new one takes as long as the letting go.
  await withClient(await cluster.createDatabase(), async (client) => {
    for (let times = 0; times < 20; times += 1) {
      await use(url);
      const { rows } = await client.query(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'sluice'`,
      );
      expect(rows).toEqual([]);
    }
  });
}, 600_000);
