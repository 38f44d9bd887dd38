import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { asVisitorId } from '../../../src/domain/ids.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { PostgresSignals } from '../../../src/spool/postgres/signals.ts';
import type { Hint, Signals } from '../../../src/spool/signals.ts';
import { ends } from '../../support/ends.ts';
import { SHOP } from '../../support/entries.ts';
import { type Cluster, startCluster } from '../../support/postgres-cluster.ts';
import {
  isOf,
  PostgresProxy,
  TERMINATED,
  withoutNotifications,
} from '../../support/postgres-proxy.ts';
import { openStore } from '../../support/store.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const VISITOR = asVisitorId('a'.repeat(32));

let cluster: Cluster;
let url: string;
/** The test's own connection. */
let client: pg.Client;
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

const line = (seq: number): Hint => ({ shopId: SHOP, visitorId: VISITOR, what: 'line', seq });

async function onSqlite(): Promise<Signals> {
  const dir = tempDir();
  const store = await openStore(dir.path);
  ends(() => dir.remove());
  ends(() => store.spool.close());
  return store.signals;
}

async function onPostgres(at = url): Promise<PostgresSignals> {
  const dir = tempDir();
  const scratchFolder = join(dir.path, 'scratch');
  const store = await openPostgresStore({ url: at, instance: randomUUID(), scratchFolder });
  ends(() => dir.remove());
  ends(() => store.spool.close());
  if (!(store.signals instanceof PostgresSignals)) throw new Error('of another database');
  return store.signals;
}

/** What a gateway hears. */
function listen(signals: Signals) {
  const hints: Hint[] = [];
  const heard = { hints, polls: 0 };
  const end = signals.subscribe({
    onHint: (hint) => void hints.push(hint),
    onPoll: () => void (heard.polls += 1),
  });
  return Object.assign(heard, { end });
}
const hearing = (...all: PostgresSignals[]) =>
  waitFor('all to hear', () => all.every(({ isHearing }) => isHearing));

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', () => onPostgres()],
])('signals on %s', (_backend, open) => {
  test('come to every listener of the process at once, and to none that ended', async () => {
    const signals = await open();
    const [one, two, ended] = [listen(signals), listen(signals), listen(signals)];
    ended.end();
    signals.publish(line(1));
    expect([one.hints, two.hints, ended.hints]).toEqual([[line(1)], [line(1)], []]);
  });
});

describe('signals of several gateways on PostgreSQL', () => {
  test('come to the others once, in order, and back to no one twice', async () => {
    const [one, two] = [await onPostgres(), await onPostgres()];
    const [atOne, atTwo] = [listen(one), listen(two)];
    await hearing(one, two);
    const hints: Hint[] = [
      line(1),
      { shopId: SHOP, visitorId: VISITOR, what: 'tick', messageId: 'm1', state: 'failed' },
      { shopId: SHOP, visitorId: VISITOR, what: 'identified' },
      ...Array.from({ length: 1000 }, (_, n) => line(n + 2)),
    ];
    for (const hint of hints) one.publish(hint);
    await waitFor('all of them', () => atTwo.hints.length >= hints.length);
    two.publish(line(5000));
    await waitFor('the answer', () => atOne.hints.length > hints.length);
    expect(atTwo.hints).toEqual([...hints, line(5000)]);
    expect(atOne.hints).toEqual([...hints, line(5000)]);
  });

  test('are gathered: many cost few statements', async () => {
    const one = await onPostgres();
    const sent: number[] = [];
    client.on('notification', () => void sent.push(performance.now()));
    await client.query('LISTEN sluice_hints');
    for (let n = 0; n < 500; n += 1) one.publish(line(n));
    one.publish(line(500));
    await waitFor('the hints', () => sent.length > 0);
    await client.query('UNLISTEN sluice_hints');
    client.removeAllListeners('notification');
    // 501 hints of about 130 bytes, at most 8000 bytes each.
    expect(sent.length).toBeLessThan(15);
  });

  test('that were gathered are sent before the store is closed', async () => {
    const one = await onPostgres();
    const two = await onPostgres();
    const heard = listen(two);
    await hearing(two);
    one.publish(line(7));
    await one.stop();
    await waitFor('the hint', () => heard.hints.length === 1);
  });

  test('of another program or version are passed over', async () => {
    const one = await onPostgres();
    const heard = listen(one);
    await hearing(one);
    const strange = [
      ...['no JSON', '[]', '{"from":"x"}', '{"from":"x","hints":[{"what":"later"},3]}'],
      JSON.stringify({ from: 'x', hints: [{ what: 'new' }, line(3)] }),
    ];
    for (const payload of strange)
      await client.query(`SELECT pg_notify('sluice_hints', $1)`, [payload]);
    await waitFor('the hint that is known', () => heard.hints.length > 0);
    expect(heard.hints).toEqual([line(3)]);
  });

  test('are heard again after the connection was lost, and what was missed is polled for', async () => {
    const [one, two] = [await onPostgres(), await onPostgres()];
    const heard = listen(two);
    await hearing(two);
    const polls = heard.polls;
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE query LIKE '%pg_notify%' AND pid <> pg_backend_pid()`,
    );
    await waitFor('the loss to be noticed', () => !two.isHearing);
    one.publish(line(1));
    await hearing(two);
    expect(heard.polls).toBeGreaterThan(polls);
    one.publish(line(2));
    await waitFor('the next hint', () =>
      heard.hints.some((hint) => 'seq' in hint && hint.seq === 2),
    );
  });

  test('are heard again after the server ended the connection with the words that completed it', async () => {
    // The pool's connection is the first; one of the next listens.
    const proxy = await PostgresProxy.start(url, (connection) => {
      let isComplete = connection === 1 || connection > 4;
      return (message) => {
        if (isComplete || !isOf('Z', message)) return message;
        isComplete = true;
        return Buffer.concat([message, TERMINATED]);
      };
    });
    ends(() => proxy.stop());
    const one = await onPostgres(proxy.url);
    listen(one);
    await hearing(one);
    expect(proxy.connections).toBeGreaterThan(4);
  });

  test('do not come through a pooler, so who is behind one polls every second', async () => {
    const pooler = await PostgresProxy.start(url, () => withoutNotifications);
    ends(() => pooler.stop());
    const pooled = await onPostgres(pooler.url);
    const direct = await onPostgres();
    const [here, there] = [listen(pooled), listen(direct)];
    await hearing(direct);
    await waitFor('several polls', () => here.polls >= 3);
    expect(pooled.isHearing).toBe(false);
    pooled.publish(line(9));
    await waitFor('the hint at the other', () => there.hints.length === 1);
  });

  test('cost no connection where nobody listens', async () => {
    const one = await onPostgres();
    one.publish(line(1));
    await one.stop();
    const { rows } = await client.query(
      `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`,
    );
    expect(rows).toEqual([]);
  });
});
