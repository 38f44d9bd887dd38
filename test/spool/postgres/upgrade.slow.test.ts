import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/spool/postgres/open.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import { type Cluster, column, startCluster, withClient } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
});
afterAll(() => cluster.stop());

async function openStore(url: string): Promise<PostgresStore> {
  const dir = tempDir();
  ends(() => dir.remove());
  const scratchFolder = join(dir.path, 'scratch');
  const store = await openPostgresStore({ url, instance: randomUUID(), scratchFolder });
  ends(() => store.spool.close());
  return store;
}

/** The new step of a newer version: it adds a column to every table, since steps only add. */
async function expand(url: string): Promise<void> {
  const tables = await column(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
  const added = tables
    .filter((table) => table !== 'schema_version')
    .map((table) => `ALTER TABLE "${table}" ADD COLUMN of_newer_version int NOT NULL DEFAULT 7`);
  expect(added.length).toBeGreaterThan(20);
  await withClient(url, async (client) => {
    await client.query([...added, 'UPDATE schema_version SET version = version + 1'].join(';'));
  });
}

/** What a gateway does with a text and with a chat line, its answer and its visitor. */
async function useAll({ spool, chat, optOuts }: PostgresStore): Promise<void> {
  const visitorId = asVisitorId(randomUUID().replaceAll('-', ''));
  const created = await chat.createVisitor({ shopId: SHOP, id: visitorId, createdAt: 1 });
  expect(created).toMatchObject({ id: visitorId, lastSeq: 0 });
  const messageId = randomUUID();
  const line = anEntry({ channel: 'web_chat', dedupKey: `${visitorId}:${messageId}` });
  const said = { visitorId, messageId, text: 'hello', uploadIds: [] };
  await chat.acceptMessage(line, said);
  const text = anEntry();
  await spool.accept([text]);
  const claimed = await claimFrom(spool, SHOP, 10, 60_000);
  expect(claimed.map(({ entry }) => entry.id).toSorted()).toEqual([line.id, text.id].toSorted());
  for (const { lease } of claimed) await spool.settle(lease, { state: 'delivered' }, { steps: [] });
  expect(await spool.get(text.id)).toMatchObject({ state: 'delivered' });
  const replied = await chat.storeReply({
    ...{ shopId: SHOP, visitorId, platformMessageId: randomUUID(), at: 2 },
    ...{ text: 'answer', format: 'TEXT' },
  });
  expect(replied).toMatchObject({ visitorId, line: { seq: 2, text: 'answer' } });
  expect(await chat.visitorsAmong(SHOP, [visitorId])).toMatchObject([{ lastSeq: 2 }]);
  expect(await optOuts.isOptedOut(SHOP, 'nobody')).toBe(false);
}

test('a gateway goes on, and starts again, when a newer version has added to the tables', async () => {
  const url = await cluster.createDatabase();
  const running = await openStore(url);
  // Its connections know the tables as they were.
  await useAll(running);
  await expand(url);
  await useAll(running);
  await useAll(await openStore(url));
  await useAll(running);
});
