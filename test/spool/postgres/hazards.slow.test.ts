import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Claimed, NewEntry } from '../../../src/spool/entry.ts';
import { SpoolUnavailable, StoreRefuses } from '../../../src/spool/errors.ts';
import { Database } from '../../../src/spool/postgres/connection.ts';
import { CLAIM } from '../../../src/spool/postgres/delivery-functions.ts';
import { PostgresDeliveries } from '../../../src/spool/postgres/deliveries.ts';
import { ACCEPT, storedForms } from '../../../src/spool/postgres/intake.ts';
import { lockNames } from '../../../src/spool/postgres/names.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { jsonOf } from '../../../src/spool/postgres/rows.ts';
import { NOW } from '../../../src/spool/postgres/schema.ts';
import type { Spool } from '../../../src/spool/spool.ts';
import { anEntry, because, claimFrom, retryLater, SHOP } from '../../support/entries.ts';
import { type Cluster, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { tempDir } from '../../support/temp-dir.ts';

const LEASE = 60_000;

let cluster: Cluster;
let url: string;
let dir: ReturnType<typeof tempDir>;
/** Two gateways on one database. */
let one: Spool;
let other: Spool;
/** A third one, whose transactions the test commits. */
let third: pg.Client;

beforeAll(async () => {
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
});
afterAll(() => cluster.stop());

beforeEach(async () => {
  dir = tempDir();
  one = await openSpool();
  other = await openSpool();
  third = new pg.Client(url);
  await third.connect();
});
afterEach(async () => {
  await third.end();
  await one.close();
  await other.close();
  await emptyStore(url);
  dir.remove();
});

async function openSpool(): Promise<Spool> {
  const scratchFolder = join(dir.path, 'scratch');
  return (await openPostgresStore({ url, instance: randomUUID(), scratchFolder })).spool;
}

/** Accepts in a transaction that the test ends. */
async function acceptUncommitted(...entries: readonly NewEntry[]): Promise<void> {
  const { items, raws } = storedForms(entries);
  await third.query('BEGIN');
  await third.query(`SELECT * FROM ${ACCEPT.name}($1, $2)`, [jsonOf(items), raws]);
}

/** The processes of the server that wait for `event`; resolves once there are `count`. */
async function waiting(event: string, count = 1): Promise<readonly number[]> {
  for (;;) {
    const { rows } = await third.query<{ pid: number }>(
      // Within a transaction this view would be read once only.
      `SELECT pid FROM pg_stat_clear_snapshot(), pg_stat_activity
       WHERE datname = current_database() AND $1 IN (wait_event_type, wait_event)`,
      [event],
    );
    if (rows.length >= count) return rows.map(({ pid }) => pid);
  }
}

async function numberOf(table: string): Promise<number> {
  const { rows } = await third.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
  return rows[0]?.n ?? 0;
}

/** As if their time were over. */
const endLeases = () => third.query(`UPDATE lane SET due_at = ${NOW.name}() - 1 WHERE owned`);

async function claimOne(spool: Spool): Promise<Claimed> {
  const [claimed] = await claimFrom(spool, SHOP, 1, LEASE);
  if (claimed === undefined) throw new Error('nothing to claim');
  return claimed;
}

const deliver = (spool: Spool, { lease }: Claimed) =>
  spool.settle(lease, { state: 'delivered' }, { steps: [] });

/** The ids of all that is queued, in the order in which they are claimed. */
async function deliverAll(spool: Spool): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const claimed = await claimFrom(spool, SHOP, 100, LEASE);
    if (claimed.length === 0) return ids;
    for (const each of claimed) {
      ids.push(each.entry.id);
      expect(await deliver(spool, each)).toBe(true);
    }
  }
}

test('an entry whose accept waits for a duplicate is claimed after a later one of its lane', async () => {
  const first = anEntry({ lane: 'elsewhere' });
  const early = anEntry({ lane: 'lane' });
  const late = anEntry({ lane: 'lane' });
  await acceptUncommitted(first);
  const accepted = one.accept([{ ...first, id: anEntry().id }, early]);
  await waiting('Lock');
  await other.accept([late]);
  expect(await deliverAll(other)).toEqual([late.id]);
  await third.query('COMMIT');
  expect(await accepted).toEqual([
    { id: first.id, duplicate: true },
    { id: early.id, duplicate: false },
  ]);
  expect((await deliverAll(other)).sort()).toEqual([first.id, early.id].sort());
});

test('an entry that is requeued beside a later one in flight is claimed after it', async () => {
  const [early, late] = [anEntry({ lane: 'lane' }), anEntry({ lane: 'lane' })];
  await one.accept([early, late]);
  const { lease } = await claimOne(one);
  await one.settle(lease, { state: 'dead', reason: because('no') }, { steps: [] });
  const inFlight = await claimOne(one);
  expect(inFlight.entry.id).toBe(late.id);
  expect(await other.requeue(early.id)).toBe(true);
  expect(await claimFrom(other, SHOP, 100, LEASE)).toEqual([]);
  expect(await deliver(one, inFlight)).toBe(true);
  expect(await deliverAll(other)).toEqual([early.id]);
});

test('a lane that is committed late, below the floor of claims, is claimed within seconds', async () => {
  let now = 0;
  const database = new Database(url);
  const queue = new PostgresDeliveries(database, 'gateway', () => now);
  const claim = () => claimFrom(queue, SHOP, 100, LEASE);
  await one.accept([anEntry()]);
  expect(await claim()).toHaveLength(1);
  await one.accept([anEntry()]);
  await third.query('UPDATE lane SET due_at = 1 WHERE NOT owned');
  expect(await claim()).toEqual([]);
  now += 5000;
  expect(await claim()).toHaveLength(1);
  await database.close();
});

test('an entry that waited long for its turn is due at once, and its lane is not repaired', async () => {
  const receivedAt = Date.now() - 60_000;
  const entries = [1, 2, 3].map(() => anEntry({ lane: 'lane', receivedAt }));
  await one.accept(entries);
  expect(await deliverAll(one)).toEqual(entries.map(({ id }) => id));
  await one.accept([1, 2].map(() => anEntry({ lane: 'lane', receivedAt })));
  await deliver(one, await claimOne(one));
  expect(await one.repair({ shops: [], lanesAfter: -1 })).toMatchObject({ lanes: 0 });
});

describe('the watchdog repairs', () => {
  const repair = () => one.repair({ shops: [SHOP], lanesAfter: Number.MIN_SAFE_INTEGER });

  test.each([
    ['a lane without its row', 'DELETE FROM lane'],
    ['a head that is not known', 'UPDATE lane SET head = NULL'],
    ['a head that is not the first', 'UPDATE lane SET head = head + 1'],
    ['a lane without a time', 'UPDATE lane SET due_at = 9223372036854775807'],
    ['a lane that waits for what its head does not', 'UPDATE lane SET waits = 7'],
    ['entries below those that claims look at', 'UPDATE lane SET after = after + 2'],
    [
      'a lease of a clock that was ahead',
      'UPDATE lane SET owned = true, generation = 1, due_at = due_at + 7200000',
    ],
  ])('%s', async (_, break_) => {
    const entries = [1, 2, 3].map(() => anEntry({ lane: 'lane' }));
    await one.accept(entries);
    await third.query(break_);
    // A lane without a row gets one that is wrong, and then is right.
    expect(await repair()).toMatchObject({ lanes: 1, lanesUpTo: undefined });
    expect(await repair()).toMatchObject({ lanes: 0, due: [SHOP] });
    expect(await deliverAll(other)).toEqual(entries.map(({ id }) => id));
  });

  test('lanes at one gateway, and at another one when that ends', async () => {
    await one.accept([anEntry()]);
    expect(await repair()).toMatchObject({ lanes: 0 });
    await third.query('UPDATE lane SET head = NULL');
    const atOther = () => other.repair({ shops: [], lanesAfter: Number.MIN_SAFE_INTEGER });
    expect(await atOther()).toMatchObject({ lanes: 0, lanesUpTo: undefined });
    await third.query('UPDATE lease SET until = 0');
    expect(await atOther()).toMatchObject({ lanes: 1 });
  });

  test('nothing of what another gateway has in flight, or of what waits', async () => {
    await one.accept([1, 2, 3, 4].map((n) => anEntry({ lane: `lane ${n % 2}` })));
    await one.accept([anEntry({ detached: true })]);
    const claimed = await claimOne(other);
    await one.settle((await claimOne(one)).lease, retryLater({ retryInMs: 1000 }), { steps: [] });
    expect(await repair()).toMatchObject({ lanes: 0 });
    expect(await deliver(other, claimed)).toBe(true);
    expect(await repair()).toMatchObject({ lanes: 0 });
  });
});

const mail = () =>
  anEntry({ channel: 'email', remoteId: '<a@b>', remoteIdIfTaken: `<a@b>#${randomUUID()}` });
const remoteIds = (entries: readonly NewEntry[]) =>
  Promise.all(entries.map(async ({ id }) => (await one.get(id))?.remoteId));

test('of two emails with one Message-ID in one batch, one gets another id', async () => {
  const mails = [mail(), mail()] as const;
  await one.accept(mails);
  expect(await remoteIds(mails)).toEqual(['<a@b>', mails[1].remoteIdIfTaken]);
});

test('of two emails with one Message-ID at two gateways, one gets another id', async () => {
  const mails = [mail(), mail()] as const;
  await acceptUncommitted(mails[0]);
  const accepted = other.accept([mails[1]]);
  await waiting('Lock');
  await third.query('COMMIT');
  await accepted;
  expect(await remoteIds(mails)).toEqual(['<a@b>', mails[1].remoteIdIfTaken]);
});

test('a duplicate that loses the race gives no Message-ID to an entry', async () => {
  const first = anEntry({ channel: 'email', remoteId: '<first@b>' });
  await one.accept([first]);
  await one.accept([{ ...first, id: anEntry().id, remoteId: '<second@b>' }]);
  expect(await numberOf('remote')).toBe(1);
});

test('in one batch an old lease changes nothing, and the present one counts once', async () => {
  const entry = anEntry();
  await one.accept([entry]);
  const old = await claimOne(one);
  await endLeases();
  const present = await claimOne(other);
  const dead = { state: 'dead', reason: because('late') } as const;
  const settled = await Promise.all([
    one.settle(old.lease, dead, { steps: [] }),
    one.settle(present.lease, { state: 'delivered' }, { steps: [] }),
    one.settle(present.lease, dead, { steps: [] }),
    one.settle(old.lease, dead, { steps: [] }),
  ]);
  expect(settled).toEqual([false, true, false, false]);
  expect((await one.get(entry.id))?.state).toBe('delivered');
});

describe('an outcome that shares the commit of a claim', () => {
  test('makes way for the next entry of its lane, which is claimed', async () => {
    const entries = [anEntry({ lane: 'lane' }), anEntry({ lane: 'lane' })] as const;
    await one.accept(entries);
    const claimed = await claimOne(one);
    const [settled, next] = await Promise.all([deliver(one, claimed), claimOne(one)]);
    expect(settled).toBe(true);
    expect(next.entry.id).toBe(entries[1].id);
    const [late, nothing] = await Promise.all([
      deliver(one, claimed),
      claimFrom(one, SHOP, 100, LEASE),
    ]);
    // A settle can be repeated.
    expect([late, nothing]).toEqual([true, []]);
  });

  test('and is refused harms neither the claim nor other outcomes', async () => {
    const entries = [anEntry({ lane: 'bad' }), anEntry({ lane: 'good' }), anEntry()] as const;
    await one.accept(entries);
    const [bad, good] = await claimFrom(one, SHOP, 2, LEASE);
    if (bad === undefined || good === undefined) throw new Error('two are due');
    const refused = expect(
      one.settle(bad.lease, retryLater({ retryInMs: 1e30 }), { steps: [] }),
    ).rejects.toThrow(StoreRefuses);
    const [settled, next] = await Promise.all([deliver(one, good), claimOne(one), refused]);
    expect(settled).toBe(true);
    expect(next.entry.id).toBe(entries[2].id);
    expect((await one.get(bad.entry.id))?.state).toBe('delivering');
  });

  test('and whose connection is lost may be sent again', async () => {
    await one.accept([anEntry(), anEntry()]);
    const claimed = await claimOne(one);
    await third.query('BEGIN; SELECT FROM lane FOR UPDATE');
    const lost = [deliver(one, claimed), claimOne(one)].map((each) =>
      expect(each).rejects.toThrow(SpoolUnavailable),
    );
    const pids = await waiting('Lock');
    await third.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [pids]);
    await Promise.all(lost);
    await third.query('ROLLBACK');
    expect(await deliver(one, claimed)).toBe(true);
    expect(await deliverAll(other)).toHaveLength(1);
  });
});

test('an outcome that is sent again, because its answer was lost, counts once', async () => {
  const entries = [anEntry({ lane: 'lane' }), anEntry({ lane: 'lane' })] as const;
  await one.accept(entries);
  const claimed = await claimOne(one);
  expect(await deliver(one, claimed)).toBe(true);
  expect(await deliver(one, claimed)).toBe(true);
  expect(await numberOf('outcome')).toBe(1);
  expect(await deliverAll(other)).toEqual([entries[1].id]);
});

test.each(['accept', 'settle'])(
  'an entry that is accepted while the last of its lane is settled is claimed, %s first',
  async (first) => {
    const entries = [anEntry({ lane: 'lane' }), anEntry({ lane: 'lane' })] as const;
    await one.accept([entries[0]]);
    const claimed = await claimOne(one);
    await third.query('BEGIN; SELECT FROM lane FOR UPDATE');
    const calls = [() => other.accept([entries[1]]), () => deliver(one, claimed)];
    const inOrder = first === 'accept' ? calls : calls.toReversed();
    const answers: Promise<unknown>[] = [];
    for (const call of inOrder) {
      answers.push(call());
      await waiting('Lock', answers.length);
    }
    await third.query('COMMIT');
    await Promise.all(answers);
    expect(await deliverAll(other)).toEqual([entries[1].id]);
  },
);

test('an outcome counts after the end of its lease, if no other gateway took the lane over', async () => {
  await one.accept([anEntry()]);
  const claimed = await claimOne(one);
  await endLeases();
  expect(await deliver(one, claimed)).toBe(true);
  expect(await claimFrom(other, SHOP, 100, LEASE)).toEqual([]);
});

test('an outcome does not count that waited for another gateway to take the lane over', async () => {
  const entry = anEntry();
  await one.accept([entry]);
  const late = await claimOne(one);
  await endLeases();
  const request = {
    number: 0,
    shop: SHOP,
    limit: 1,
    from: [{ name: 'all', waits: 0, failed: true, floor: 0 }],
  };
  await third.query('BEGIN');
  const { rows } = await third.query<{ generation: string }>(
    `SELECT * FROM ${CLAIM.name}($1, 1, ${LEASE}, 0, 'third')`,
    [JSON.stringify([request])],
  );
  const settled = deliver(one, late);
  await waiting('Lock');
  await third.query('COMMIT');
  expect(await settled).toBe(false);
  const lease = { id: entry.id, generation: Number(rows[0]?.generation) };
  expect(await one.settle(lease, { state: 'delivered' }, { steps: [] })).toBe(true);
});

test('an operator discards what a dead gateway had in flight; its late outcome does not count', async () => {
  const entries = [anEntry({ lane: 'lane' }), anEntry({ lane: 'lane' })] as const;
  await one.accept(entries);
  const claimed = await claimOne(one);
  expect(await other.discard(entries[0].id)).toBe(false);
  await endLeases();
  expect(await other.discard(entries[0].id)).toBe(true);
  expect(await deliver(one, claimed)).toBe(false);
  expect((await one.get(entries[0].id))?.state).toBe('discarded');
  expect(await deliverAll(other)).toEqual([entries[1].id]);
});

test('a duplicate is acknowledged only once the first is committed', async () => {
  const first = anEntry();
  await acceptUncommitted(first);
  let isAnswered = false;
  const accepted = other.accept([{ ...first, id: anEntry().id }]).finally(() => {
    isAnswered = true;
  });
  await waiting('Lock');
  expect(isAnswered).toBe(false);
  await third.query('COMMIT');
  expect(await accepted).toEqual([{ id: first.id, duplicate: true }]);
});

test('an accept whose connection is lost is refused, and the sender may send it again', async () => {
  const first = anEntry();
  const entry = anEntry();
  await acceptUncommitted(first);
  const refused = expect(one.accept([entry, first])).rejects.toThrow(SpoolUnavailable);
  const pids = await waiting('Lock');
  await third.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [pids]);
  await refused;
  await third.query('ROLLBACK');
  expect(await numberOf('entry')).toBe(0);
  await one.accept([entry, first]);
  await one.accept([entry, first]);
  expect(await deliverAll(one)).toHaveLength(2);
});

test('a statement that met a deadlock is tried five times, and not six', async () => {
  const database = new Database(url);
  await third.query('CREATE SEQUENCE tries');
  const failUpTo = (tries: number) =>
    database.query(`DO $$ BEGIN
      IF nextval('tries') <= ${tries} THEN RAISE deadlock_detected; END IF; END $$`);
  try {
    await failUpTo(4);
    await third.query('ALTER SEQUENCE tries RESTART');
    await expect(failUpTo(5)).rejects.toThrow(SpoolUnavailable);
  } finally {
    await third.query('DROP SEQUENCE tries');
    await database.close();
  }
});

test('a gateway that freezes between two statements of a transaction keeps no lock', async () => {
  const place = { scope: 'whatsapp/whatsapp', ours: '+15550783881' };
  const frozen = new Database(url);
  let accepted: Promise<unknown> | undefined;
  const transaction = frozen.transaction(async (query) => {
    await lockNames(query, [{ shop: SHOP, scope: place.scope }]);
    const sender = { ...place, number: '+14155550001', at: Date.now() };
    accepted = other.accept([anEntry({ sender })]);
    await accepted;
    await query('SELECT');
  });
  await expect(transaction).rejects.toThrow(SpoolUnavailable);
  await expect(accepted).resolves.toEqual([{ id: expect.any(String), duplicate: false }]);
  // It has connections again.
  expect(await frozen.transaction((query) => query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  await frozen.close();
}, 60_000);
