import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { assertIntact } from '../../../src/spool/blobs.ts';
import { asShopId } from '../../../src/domain/ids.ts';
import { SpoolUnusable } from '../../../src/spool/errors.ts';
import { inspectDatabase } from '../../../src/spool/postgres/fleet.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/spool/postgres/open.ts';
import { describeBudgets } from '../../runtime/budgets-cases.ts';
import { anEntry, retryLater, SHOP } from '../../support/entries.ts';
import { type Cluster, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';

let cluster: Cluster;
let url: string;
let client: pg.Client;
let dir: ReturnType<typeof tempDir>;
let opened: PostgresStore[];

beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
  client = new pg.Client(url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await cluster.stop();
});
beforeEach(() => {
  dir = tempDir();
  opened = [];
});
afterEach(async () => {
  for (const { spool } of opened) await spool.close();
  await emptyStore(url);
  dir.remove();
});

async function gateway(keys?: readonly string[]): Promise<PostgresStore> {
  const scratchFolder = join(dir.path, randomUUID());
  const store = await openPostgresStore({
    url,
    instance: randomUUID(),
    scratchFolder,
    ...(keys && { keys }),
  });
  opened.push(store);
  return store;
}

test('the last attempt and the use of the conversation are told by the clock of the gateway that claims', async () => {
  const { now } = Date;
  const ahead = () => now() + 3_600_000;
  Date.now = ahead;
  const { spool } = await gateway().finally(() => (Date.now = now));
  const [entry, next] = [anEntry({ lane: 'same' }), anEntry({ lane: 'same' })];
  await spool.accept([entry, next]);
  await spool.rememberConversation(entry, 'c1');
  const claim = async () => {
    const request = { shopId: entry.shopId, limit: 1, from: ['untried', 'due'] as const };
    const [[claimed] = []] = await spool.claim([request], 45_000, 1);
    if (claimed === undefined) throw new Error('nothing was claimed');
    return claimed;
  };
  const first = await claim();
  expect(first.entry.lastAttemptAt).toBe(0);
  const begunAt = ahead();
  await spool.settle(first.lease, retryLater({ counts: false, failed: false }), { steps: [] });
  const again = await claim();
  await spool.settle(again.lease, { state: 'delivered', conversationId: 'c1' }, { steps: [] });
  const times = [again.entry.lastAttemptAt, (await claim()).conversation?.usedAt];
  for (const at of times) {
    // Both clocks are read with some delay.
    expect(at).toBeGreaterThan(begunAt - 60_000);
    expect(at).toBeLessThanOrEqual(ahead());
  }
});

describe('a lease', () => {
  test('belongs to one gateway at a time, which may renew it', async () => {
    const [{ leases: one }, { leases: other }] = [await gateway(), await gateway()];
    const both = await Promise.all([one.take('work', 60_000), other.take('work', 60_000)]);
    expect(both.filter(Boolean)).toHaveLength(1);
    const [holder, loser] = both[0] ? [one, other] : [other, one];
    expect(await holder.take('work', 60_000)).toBe(true);
    expect(await loser.take('work', 60_000)).toBe(false);
    expect(await loser.take('other work', 60_000)).toBe(true);
  });

  test('passes on when it is released by its holder, and by nobody else', async () => {
    const [{ leases: one }, { leases: other }] = [await gateway(), await gateway()];
    await one.take('work', 60_000);
    await other.release('work');
    expect(await other.take('work', 60_000)).toBe(false);
    await one.release('work');
    expect(await other.take('work', 60_000)).toBe(true);
  });

  test('passes on when its time is over, by the clock of the database', async () => {
    const [{ leases: one }, { leases: other }] = [await gateway(), await gateway()];
    await one.take('work', 60_000);
    await client.query('UPDATE lease SET until = until - 60000');
    expect(await other.take('work', 60_000)).toBe(true);
    expect(await one.take('work', 60_000)).toBe(false);
  });
});

describeBudgets('of two gateways', async () => {
  const [one, other] = [await gateway(), await gateway()];
  let turn = 0;
  return {
    open: (name, size) => {
      const [mine, theirs] = [one.openBudget(name, size), other.openBudget(name, size)];
      const next = () => ((turn += 1) % 2 === 0 ? mine : theirs);
      return {
        spend: (...spent) => next().spend(...spent),
        refund: (...back) => next().refund(...back),
      };
    },
    pass: async (ms) => void (await client.query('UPDATE budget SET at = at - $1', [ms])),
  };
});

test('a budget that nobody uses is swept', async () => {
  const { spool, openBudget } = await gateway();
  const budget = openBudget('guesses', { burst: 1, perHour: 1 });
  for (const key of ['long ago', 'lately']) await budget.spend(key);
  await client.query(`UPDATE budget SET at = at - 7300000 WHERE key = 'guesses long ago'`);
  await spool.sweep({ rawMs: 1, deadMs: 1, entriesMs: 1 });
  const { rows } = await client.query('SELECT key FROM budget');
  expect(rows).toEqual([{ key: 'guesses lately' }]);
});

describe('the keys', () => {
  test('of the first gateway are asked of the others; a command needs none', async () => {
    await gateway(['one']);
    await expect(gateway(['two'])).rejects.toThrow(/other keys.*Copy keys\.json/);
    await gateway(['one']);
    await gateway();
  });

  test('are replaced one after the other', async () => {
    await gateway(['old']);
    await gateway(['new', 'old']);
    await gateway(['new']);
    await expect(gateway(['newer'])).rejects.toThrow(SpoolUnusable);
  });

  test('of only one of two gateways that start at once are taken', async () => {
    await gateway();
    const both = await Promise.allSettled([gateway(['one']), gateway(['two'])]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('the schema', () => {
  test('of a newer version is used as long as that version allows it', async () => {
    await gateway();
    const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
    await client.query('UPDATE schema_version SET version = 1000');
    await gateway();
    await client.query('UPDATE schema_version SET needed = 1000');
    await expect(gateway()).rejects.toThrow(/newer version \(1000;/);
    await client.query('UPDATE schema_version SET version = $1, needed = 1', [rows[0]?.version]);
  });
});

describe('a blob', () => {
  const written = async ({ spool }: Pick<PostgresStore, 'spool'>) => {
    const writer = spool.blobs.writer();
    await pipeline([Buffer.alloc(700_000, 'a')], writer);
    return writer.commit();
  };

  test('that one gateway wrote is read by another', async () => {
    const [one, other] = [await gateway(), await gateway()];
    const raw = await written(one);
    await one.spool.accept([anEntry({ raw })]);
    await assertIntact(raw, other.spool.blobs);
  });

  test('that the server lost in a crash is acknowledged with no entry, beside others', async () => {
    const { spool } = await gateway();
    const raw = await written({ spool });
    await client.query('DELETE FROM blob');
    const [lost, whole] = [anEntry({ raw }), anEntry()];
    const answers = await Promise.allSettled([spool.accept([lost]), spool.accept([whole])]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await spool.get(lost.id)).toBeUndefined();
  });

  test('whose first chunks the server lost in a crash cannot be completed', async () => {
    const { spool } = await gateway();
    const writer = spool.blobs.writer();
    await new Promise((resolve) => writer.write(Buffer.alloc(300_000), resolve));
    await client.query('DELETE FROM blob_chunk');
    await new Promise((resolve) => writer.end(Buffer.alloc(300_000), () => resolve(undefined)));
    await expect(writer.commit()).rejects.toThrow('lost a part');
  });
});

test('of entries that are accepted by one call, all are stored or none; other calls do not matter', async () => {
  const { spool } = await gateway();
  const refused = anEntry({ shopId: asShopId('not a uuid') });
  const [before, after, other] = [anEntry(), anEntry(), anEntry()];
  const [failed, stored] = await Promise.allSettled([
    spool.accept([before, refused, after]),
    spool.accept([other]),
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { name: 'StoreRefuses' } });
  expect(stored.status).toBe('fulfilled');
  const kept = await spool.list({ limit: 9 });
  expect(kept.map(({ id }) => id)).toEqual([other.id]);
});

test('every gateway takes an operator’s request for a probe, once', async () => {
  const [one, other] = [await gateway(), await gateway()];
  await one.spool.requestProbe(SHOP);
  const taken = () => Promise.all([one, other].map(({ spool }) => spool.takeProbeRequests([SHOP])));
  expect(await taken()).toEqual([[SHOP], [SHOP]]);
  await client.query('UPDATE probe_request SET at = at - 61000');
  await other.spool.requestProbe(SHOP);
  const late = await gateway();
  expect(await late.spool.takeProbeRequests([SHOP])).toEqual([SHOP]);
});

test('the settings of the server are read', async () => {
  const found = await inspectDatabase(url);
  expect(found).toMatchObject({ fsync: false, fullPageWrites: true, synchronousCommit: 'on' });
  expect(found).toMatchObject({ isStandby: false, synchronousStandbys: '' });
  expect(found.major).toBeGreaterThanOrEqual(15);
  expect(Math.abs(found.clockAheadMs)).toBeLessThan(2000);
  await client.query('BEGIN');
  await client.query('SELECT pg_current_xact_id()');
  expect((await inspectDatabase(url)).oldestTransactionMs).toBeGreaterThan(0);
  await client.query('ROLLBACK');
});
