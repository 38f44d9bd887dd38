import { beforeEach, describe, expect, test } from '@jest/globals';
import { FIRST_REFUSAL_NUMBER } from '../../src/spool/entry.ts';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene, json, message, type Scene, toCreate } from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

describe('the same refusal to five lanes', () => {
  const bare = (content = 'x') => message({ content, format: 'TEXT' });

  test('the fifth waits and so do those after it; the canary’s success releases all of them', async () => {
    it.platform.script = toCreate(json(422, { code: 'bad_shop' }));
    const dead = Array.from({ length: 4 }, () => bare());
    for (const entry of dead) await it.comesTo(entry, 'dead');
    const waiting = Array.from({ length: 6 }, () => bare());
    for (const entry of waiting) {
      await it.submit(entry);
      const { waitsFor } = await it.waits(entry);
      expect(waitsFor).toBeGreaterThanOrEqual(FIRST_REFUSAL_NUMBER);
    }
    expect(await it.alarm('refused_alike')).toBe(1);
    expect(await it.store.spool.refusals()).toMatchObject([{ words: '422 bad_shop', count: 10 }]);
    expect(it.shop.health.messages.state).toBe('steady');

    const before = it.platform.messages.length;
    it.tryNow();
    await waitFor('the canary', () => it.platform.messages.length > before);
    // The others still wait; the canary has gone back to them.
    const canaries = async () =>
      (await it.store.spool.list({ states: ['queued'], limit: 99 })).filter(
        ({ failures }) => failures === 2,
      );
    await waitFor('the canary to be refused', async () => (await canaries()).length === 1);
    expect(it.platform.messages).toHaveLength(before + 1);

    it.platform.script = () => undefined;
    it.tryNow();
    for (const entry of waiting) await it.reached(entry, 'delivered');
    for (const entry of dead) await it.reached(entry, 'delivered');
    expect(await it.store.spool.refusals()).toEqual([]);
  });

  test('others are delivered meanwhile', async () => {
    it.platform.script = toCreate(({ body }) => (body.includes('bad') ? json(422) : undefined));
    await it.submit(...Array.from({ length: 12 }, () => bare('bad')));
    await waitFor('the alarm', async () => (await it.alarm('refused_alike')) === 1);
    await it.comesTo(bare('good'), 'delivered');
  });

  test('nobody climbs the ladder a second time: the canary is one request', async () => {
    it.platform.script = toCreate(json(422));
    const entries = Array.from({ length: 5 }, () => message());
    for (const entry of entries.slice(0, 4)) await it.comesTo(entry, 'dead');
    const [last] = entries.slice(4);
    if (last === undefined) throw new Error('no fifth');
    await it.submit(last);
    await it.waits(last);
    expect(it.platform.messages).toHaveLength(10);
    it.tryNow();
    await waitFor('the canary', async () => (await it.store.spool.get(last.id))?.failures === 2);
    expect(it.platform.messages).toHaveLength(11);
  });
});
