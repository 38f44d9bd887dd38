import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { readPerson } from '../../../src/cli/erase-person.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/spool/postgres/open.ts';
import { anEntry, claimFrom, SHOP } from '../../support/entries.ts';
import {
  type Cluster,
  column,
  emptyStore,
  startCluster,
  withClient,
} from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';

const ANN = readPerson('ann@example.com', []);
const OPTIONS = { person: ANN, shops: [SHOP], waitMs: 0 };

let cluster: Cluster;
let url: string;
let dir: ReturnType<typeof tempDir>;
let one: PostgresStore;
let other: PostgresStore;

beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  dir = tempDir();
  const gateway = () =>
    openPostgresStore({
      ...{ url, instance: randomUUID(), scratchFolder: join(dir.path, randomUUID()) },
    });
  [one, other] = [await gateway(), await gateway()];
});
afterEach(async () => {
  await one.spool.close();
  await other.spool.close();
  await emptyStore(url);
  dir.remove();
});

const mailOf = (address: string, dedupKey: string = randomUUID()) =>
  anEntry({
    ...{
      channel: 'email',
      lane: `${address} support@acme.example`,
      dedupKey,
      remoteId: `<${dedupKey}>`,
    },
    meta: { agentContact: 'support@acme.example' },
    raw: { kind: 'inline', bytes: Buffer.from(`From: ${address}\r\n\r\nHello\0\ud800`) },
  });
const tracesOf = async ({ openEraser }: PostgresStore) =>
  (await openEraser().find({ person: ANN, others: false })).traces;
const backendsWaiting = async (): Promise<number> =>
  Number(
    await column(url, `SELECT count(*)::text FROM pg_stat_activity WHERE wait_event_type = 'Lock'`),
  );

test('a message that comes again at each gateway while it is erased is stored by none', async () => {
  for (let round = 0; round < 15; round += 1) {
    const keys = Array.from({ length: 10 }, () => randomUUID());
    const first = keys.map((key) => mailOf('ann@example.com', key));
    await one.spool.accept(first);
    const traces = await tracesOf(one);
    const again = () => keys.map((key) => mailOf('ann@example.com', key));
    const [, ...answers] = await Promise.all([
      one.openEraser().eraseRows(traces, OPTIONS),
      ...[one, other, one, other].map(({ spool }) => spool.accept(again())),
    ]);
    for (const answer of answers) {
      expect(answer).toEqual(first.map(({ id }) => ({ id, duplicate: true })));
    }
    expect(await column(url, 'SELECT id FROM entry')).toEqual([]);
  }
  expect(await column(url, 'SELECT seq FROM job UNION ALL SELECT seq FROM raw')).toEqual([]);
  expect(await column(url, 'SELECT key FROM lane WHERE head IS NOT NULL')).toEqual([]);
});

test('a message is refused to be stored when its erasure commits just before', async () => {
  await one.openEraser().hashOf('ann');
  const entry = mailOf('ann@example.com', 'key');
  await one.spool.accept([entry]);
  await withClient(url, async (client) => {
    // The erasure has deleted the row, and its hash is not visible before the commit.
    await client.query('BEGIN');
    const erase = await column(
      url,
      `SELECT proname::text FROM pg_proc WHERE proname LIKE 'erase_entries_%'`,
    );
    await client.query(`SELECT ${erase[0] ?? ''}(ARRAY[$1]::uuid[], true)`, [entry.id]);
    const bobs = { ...mailOf('bob@example.com'), lane: entry.lane };
    const accepting = other.spool.accept([mailOf('ann@example.com', 'key'), bobs]);
    while ((await backendsWaiting()) === 0) continue;
    await client.query('COMMIT');
    expect(await accepting).toEqual([
      { id: entry.id, duplicate: true },
      { id: bobs.id, duplicate: false },
    ]);
  });
  const claimed = await claimFrom(other.spool, SHOP, 9, 60_000);
  expect(claimed.map(({ entry: { lane } }) => lane)).toEqual([entry.lane]);
});

test('two gateways erase one person at once, beside deliveries', async () => {
  const mails = Array.from({ length: 60 }, (_, n) =>
    mailOf(n % 3 === 0 ? 'bob@example.com' : `ann+${n % 7}@example.com`),
  );
  await one.spool.accept(mails);
  let isOver = false;
  let delivered = 0;
  const deliver = async ({ spool }: PostgresStore) => {
    for (let idle = 0; !isOver || idle < 2;) {
      const claimed = await claimFrom(spool, SHOP, 3, 60_000);
      idle = claimed.length === 0 ? idle + 1 : 0;
      for (const { lease, entry } of claimed) {
        const outcome = { state: 'delivered', conversationId: entry.id } as const;
        await spool.rememberConversation(entry, entry.id);
        if (await spool.settle(lease, outcome, { steps: [] })) delivered += 1;
      }
    }
  };
  const delivering = Promise.all([deliver(one), deliver(other)]);
  const traces = await tracesOf(one);
  await Promise.all(
    [one, other].map((store) => store.openEraser().eraseRows(traces, { ...OPTIONS, waitMs: 5000 })),
  );
  isOver = true;
  await delivering;
  expect((await tracesOf(other)).entries).toEqual([]);
  expect(await column(url, `SELECT id FROM entry`)).toHaveLength(20);
  expect(await column(url, `SELECT seq FROM outcome WHERE state = 'delivered'`)).toHaveLength(20);
  expect(delivered).toBeGreaterThanOrEqual(20);
});

test('an erasure whose connection ends is finished by the next run', async () => {
  await one.spool.accept(Array.from({ length: 50 }, () => mailOf('ann@example.com')));
  const traces = await tracesOf(one);
  await withClient(url, async (client) => {
    // The third portion of entries waits for this lock.
    await client.query('BEGIN');
    await client.query('SELECT FROM entry WHERE seq = $1 FOR UPDATE', [traces.entries[45]?.seq]);
    const erasing = one.openEraser().eraseRows(traces, OPTIONS);
    erasing.catch(() => undefined);
    while ((await backendsWaiting()) === 0) continue;
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
    );
    await expect(erasing).rejects.toThrow();
    await client.query('COMMIT');
  });
  const left = await tracesOf(other);
  expect(left.entries).toHaveLength(10);
  await other.openEraser().eraseRows(left, OPTIONS);
  expect(await column(url, 'SELECT hash FROM erased_key')).toHaveLength(100);
  expect((await tracesOf(one)).entries).toEqual([]);
});

test('no row of any table names an erased person, and the server is asked to free the space', async () => {
  const { spool, optOuts, chat, openEraser, openIndex } = one;
  await spool.accept([mailOf('ann@example.com'), mailOf('bob@example.com')]);
  await optOuts.optOut(SHOP, 'AC1/sms/+15550001111/ann@example.com', 'SM1');
  const index = openIndex({ role: 'owner' });
  await spool.accept([mailOf('Ann@Example.com')]);
  await index.close();
  await chat.createVisitor({
    ...{ shopId: SHOP, id: 'v-1' as never, email: 'ann@example.com', createdAt: Date.now() },
  });
  const eraser = openEraser();
  await eraser.eraseRows(await tracesOf(one), OPTIONS);
  expect(await eraser.purge()).toEqual({ database: 'vacuumed' });
  const tables = await column(
    url,
    `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'opt_out'`,
  );
  for (const table of tables) {
    const rows = await column(url, `SELECT row_to_json(t)::text FROM ${table} t`);
    expect([table, rows.filter((row) => /ann@example/i.test(row))]).toEqual([table, []]);
  }
});

test('a user who may not vacuum is told so', async () => {
  await withClient(url, async (client) => {
    await client.query('CREATE ROLE guest LOGIN');
    await client.query(
      'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest',
    );
    await client.query('GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO guest');
  });
  const store = await openPostgresStore({
    ...{ url: url.replace('postgres@', 'guest@'), instance: randomUUID() },
    scratchFolder: join(dir.path, 'guest'),
  });
  try {
    expect(await store.openEraser().purge()).toEqual({ database: 'not_vacuumed' });
  } finally {
    await store.spool.close();
  }
});
