import { beforeEach, describe, expect, test } from '@jest/globals';
import { WAITS_FOR } from '../../src/spool/entry.ts';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene, json, message, type Scene, toCreate } from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

describe('401, 403, 405, a redirect or 404', () => {
  test.each([401, 403, 405, 302, 404])('%i to everything: nothing is dead', async (status) => {
    it.platform.script = () => json(status);
    const entries = Array.from({ length: 10 }, () => message());
    await it.submit(...entries);
    await waitFor('the breaker', () => it.shop.health.messages.state === 'open');
    for (const entry of entries) {
      expect(await it.waits(entry)).toMatchObject({ attempts: 0, waitsFor: WAITS_FOR.shop });
      expect(await it.rungsOf(entry)).toEqual([]);
    }
    expect(await it.alarm('platform_refuses')).toBeGreaterThan(0);
    it.platform.script = () => undefined;
    it.tryNow();
    for (const entry of entries) await it.reached(entry, 'delivered');
  });

  test('also to reads that worked with this key: one is enough', async () => {
    await it.comesTo(message(), 'delivered');
    await waitFor('the read', () => it.platform.of('GET /contacts/').length === 1);
    it.platform.script = () => json(401);
    it.ahead.ms = 6000;
    const entry = message();
    await it.submit(entry);
    await it.waits(entry);
    expect(it.shop.health.messages).toMatchObject({ state: 'open', readsFail: true, allowance: 0 });
    expect(await it.store.spool.get(entry.id)).toMatchObject({ attempts: 0, detached: false });
  });

  test('to one text while others are delivered: it leaves its lane, and is tried again', async () => {
    it.platform.script = toCreate(({ body }) => (body.includes('select') ? json(403) : undefined));
    const bad = message({ content: "select * from 'x'" }, { lane: 'l' });
    const good = message({}, { lane: 'l' });
    await it.submit(bad, good);
    await it.reached(good, 'delivered');
    const once = await waitFor('a try that counts', async () => {
      const now = await it.store.spool.get(bad.id);
      return now?.state === 'queued' && now.attempts === 1 && now;
    });
    expect(once).toMatchObject({ detached: true, waitsFor: WAITS_FOR.time });
    expect(once.nextAttemptAt).toBeGreaterThan(Date.now() + 30_000);
    expect(it.shop.health.messages.state).not.toBe('open');
    expect(await it.rungsOf(bad)).toEqual([]);
  });

  test.each([401, 403])('%i to uploads: they wait, and no file is left out', async (status) => {
    it.platform.script = ({ path }) => (path === '/media/' ? json(status) : undefined);
    const withFile = message({ attachments: ['a.txt'] });
    await it.submit(withFile);
    expect(await it.waits(withFile)).toMatchObject({ attempts: 0, waitsFor: WAITS_FOR.media });
    await it.comesTo(message(), 'delivered');
    for (const tries of [2, 3, 4, 5]) {
      await waitFor('a probe', () => {
        it.tryNow();
        return it.platform.of('POST /media/').length >= tries;
      });
    }
    expect(it.platform.messages).toHaveLength(1);
    it.platform.script = () => undefined;
    await waitFor('the message', () => {
      it.tryNow();
      return it.platform.messages.length === 2;
    });
    await it.reached(withFile, 'delivered');
    expect(it.platform.messages[1]?.message['attachments']).toHaveLength(1);
    expect(it.platform.messages[1]?.message.content).toBe('hello');
  });
});
