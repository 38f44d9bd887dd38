import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from '@jest/globals';
import { WAITS_FOR } from '../../src/spool/entry.ts';
import { anEntry, retryLater, SHOP, because } from '../support/entries.ts';
import { uuid } from '../support/scripted-platform.ts';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene, isCreate, json, message, toCreate } from './scene.ts';

describe('an outage', () => {
  test('costs nobody anything, and the first delivery releases all that waits', async () => {
    const it = await deliveryScene();
    await it.comesTo(message(), 'delivered');
    await waitFor('the read', () => it.platform.of('GET /contacts/').length === 1);
    it.platform.script = () => json(503);
    it.ahead.ms = 6000;
    const entries = Array.from({ length: 30 }, (_, n) => message({}, { lane: `l${n % 15}` }));
    await it.submit(...entries);
    await waitFor('reads to fail', () => it.shop.health.messages.readsFail);
    expect(it.shop.health.messages).toMatchObject({ state: 'open', allowance: 0 });
    it.platform.script = () => undefined;
    it.tryNow();
    for (const entry of entries) {
      expect(await it.reached(entry, 'delivered')).toMatchObject({ attempts: 1 });
    }
    expect(it.shop.report().messages).toMatchObject({ state: 'steady', probing: false });
  });

  test('while it lasts, heads that failed are not tried but by probes, one at a time', async () => {
    const it = await deliveryScene();
    it.platform.script = toCreate(json(503));
    const entries = Array.from({ length: 10 }, () => message());
    await it.submit(...entries);
    await waitFor('the breaker', () => it.shop.health.messages.state === 'open');
    for (const entry of entries) {
      expect(await it.waits(entry)).toMatchObject({ waitsFor: WAITS_FOR.shop, failures: 1 });
    }
    const before = it.platform.messages.length;
    const failures = async () =>
      (await Promise.all(entries.map(({ id }) => it.store.spool.get(id))))
        .map((entry) => entry?.failures)
        .toSorted();
    for (const probes of [1, 2, 3]) {
      it.tryNow();
      await waitFor(`${probes} probes`, () => it.platform.messages.length === before + probes);
      await waitFor('its end', () => !it.shop.report().messages.probing);
    }
    // Another one each time: the one with the fewest failures.
    expect(await failures()).toEqual([1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
  });

  test('an operator’s command beside the gateway has it probed at once', async () => {
    const it = await deliveryScene();
    it.platform.script = toCreate(json(503));
    const entry = message();
    await it.submit(entry);
    await it.waits(entry);
    it.platform.script = () => undefined;
    await it.store.spool.requestProbe(SHOP);
    await it.reached(entry, 'delivered');
  });

  test('is told to commands beside the gateway', async () => {
    const it = await deliveryScene();
    it.platform.script = toCreate(json(503));
    await it.submit(message());
    const told = await waitFor('the health', async () => {
      const health = await it.store.spool.shopHealth(SHOP);
      return JSON.stringify(health ?? {}).includes('doubted') && health;
    });
    expect(told).toMatchObject({
      messages: { state: 'doubted', reason: { params: { status: 503 } } },
      ...{ media: { state: 'steady' }, refusedAlike: [] },
    });
  });

  test('of uploads holds only messages with files', async () => {
    const it = await deliveryScene();
    it.platform.script = ({ path }) => (path === '/media/' ? json(500) : undefined);
    const withFiles = Array.from({ length: 10 }, () => message({ attachments: ['a.txt'] }));
    await it.submit(...withFiles);
    await waitFor('the breaker', () => it.shop.health.media.state === 'open');
    await it.comesTo(message(), 'delivered');
    const late = message({ attachments: ['a.txt'] });
    await it.submit(late);
    expect(await it.waits(late)).toMatchObject({ waitsFor: WAITS_FOR.media, failures: 0 });
    it.platform.script = () => undefined;
    it.tryNow();
    for (const entry of [...withFiles, late]) await it.reached(entry, 'delivered');
  });
});

describe('a probe', () => {
  const probing = async () => {
    const it = await deliveryScene();
    it.platform.script = toCreate(json(503));
    const entry = message();
    await it.submit(entry);
    await it.waits(entry);
    it.platform.script = (seen) => (isCreate(seen) ? 'hang' : undefined);
    const before = it.platform.messages.length;
    it.tryNow();
    await waitFor('the probe', () => it.platform.messages.length > before);
    expect(it.shop.report().messages.probing).toBe(true);
    const ended = () => waitFor('its end', () => !it.shop.report().messages.probing);
    return { it, entry, ended };
  };

  test('that is interrupted has ended', async () => {
    const { it, entry, ended } = await probing();
    await it.dispatcher.stop(0);
    await ended();
    expect(await it.store.spool.get(entry.id)).toMatchObject({ state: 'queued', failures: 1 });
  });

  test('of an entry that is erased meanwhile has ended, and the next one is planned', async () => {
    const { it, entry, ended } = await probing();
    const db = new Database(join(it.dir, 'spool.db'));
    db.prepare(`DELETE FROM entries WHERE id = ?`).run(entry.id);
    db.close();
    await ended();
    expect(it.logged.join('\n')).toContain('entry.lease_lost');
    expect(it.shop.report().messages.nextProbeAt).toBeGreaterThan(Date.now());
  });

  test('comes to a head whose own time has come, whatever else fails', async () => {
    const it = await deliveryScene();
    it.platform.script = toCreate(({ body }) => (body.includes('never') ? json(500) : undefined));
    it.shop.health.messages.readsFailed(because('the platform answered 503'));
    const honest = message({ content: 'honest' });
    await it.store.spool.accept([honest]);
    const ask = { shopId: SHOP, limit: 1, from: ['untried' as const] };
    const [[claimed] = []] = await it.store.spool.claim([ask], 60_000, 1);
    if (claimed === undefined) throw new Error('it was not claimed');
    await it.store.spool.settle(claimed.lease, retryLater(), { steps: [] });
    const strangers = [message({ content: 'never 1' }), message({ content: 'never 2' })];
    await it.submit(...strangers);
    it.keepTrying();
    await it.reached(honest, 'delivered');
  });
});

test('events that are delivered say nothing about messages', async () => {
  const it = await deliveryScene();
  const contact = { id: uuid('d', 1), parent_contact_id: null, created_at: 'x', updated_at: 'x' };
  it.platform.script = (seen) =>
    isCreate(seen)
      ? json(500)
      : seen.path.startsWith('/contacts/')
        ? json(200, { results: [contact] })
        : undefined;
  const stuck = message();
  await it.submit(stuck);
  await it.waits(stuck);
  const bytes = Buffer.from('{"name":"bounce","contact":{"phone":"+15550002222"}}');
  const raw = { kind: 'inline', bytes } as const;
  const events = Array.from({ length: 5 }, () => anEntry({ kind: 'event', raw }));
  await it.submit(...events);
  for (const event of events) await it.reached(event, 'delivered');
  expect(it.shop.health.messages.state).toBe('doubted');
  expect(await it.store.spool.get(stuck.id)).toMatchObject({ attempts: 0 });
});

test('what is looked after beside the deliveries may fail, and they go on', async () => {
  const it = await deliveryScene();
  const fails = () => Promise.reject(new Error('no'));
  Object.assign(it.store.spool, { takeProbeRequests: fails, saveShopHealth: fails, repair: fails });
  await it.comesTo(message(), 'delivered');
  await it.comesTo(message(), 'delivered');
  await waitFor('a line in the log', () =>
    it.logged.some((line) => line.includes('dispatcher.probing_failed')),
  );
});

test('nothing is claimed after the stop', async () => {
  const it = await deliveryScene({ requestTimeoutMs: 300 });
  const reads = () => it.platform.of('GET /contacts/').length;
  it.platform.script = ({ path }) => (path.startsWith('/contacts/') ? 'hang' : undefined);
  const entry = message();
  it.shop.health.messages.readsFailed(because('the platform answered 503'));
  it.tryNow();
  await waitFor('the reads of a probe', () => reads() > 0);
  const stopping = it.dispatcher.stop(0);
  await it.store.spool.accept([entry]);
  await stopping;
  expect(await it.store.spool.get(entry.id)).toMatchObject({ state: 'queued', lastAttemptAt: 0 });
  expect(it.platform.messages).toHaveLength(0);
});

describe('many shops', () => {
  test('take turns: with three backlogs each gets a third', async () => {
    const it = await deliveryScene({ shops: 3, concurrency: 6 });
    const order: string[] = [];
    it.platform.script = (seen) => {
      if (isCreate(seen)) order.push(/"content":"(\d)/.exec(seen.body)?.[1] ?? '?');
      return undefined;
    };
    const backlog = it.shops.flatMap(({ settings: { shopId } }, n) =>
      Array.from({ length: 200 }, () => message({ content: `${n}` }, { shopId })),
    );
    await it.submit(...backlog);
    await waitFor('all of them', () => order.length === 600);
    const half = order.slice(0, 300);
    const shares = ['0', '1', '2'].map((n) => half.filter((each) => each === n).length);
    expect(Math.min(...shares)).toBeGreaterThan(75);
    expect(Math.max(...shares)).toBeLessThan(125);
  });

  test('one whose platform never answers leaves room for the others', async () => {
    const it = await deliveryScene({ shops: 2, concurrency: 4 });
    it.platform.script = (seen) =>
      isCreate(seen) && seen.body.includes('stuck') ? 'hang' : undefined;
    await it.submit(...Array.from({ length: 20 }, () => message({ content: 'stuck' })));
    await waitFor('the first of them', () => it.platform.messages.length > 0);
    const { shopId } = it.shops[1]?.settings ?? it.shop.settings;
    const others = Array.from({ length: 10 }, () => message({}, { shopId }));
    await it.submit(...others);
    for (const entry of others) await it.reached(entry, 'delivered');
  });
});
