import { expect, test } from '@jest/globals';
import type { EntryMeta } from '../../src/spool/entry.ts';
import { tryShop } from '../../src/spool/try-shop.ts';
import { SHOP, because } from '../support/entries.ts';

/** Of a gateway whose clock is an hour behind, as after an NTP step. */
const T0 = Date.now() - 3_600_000;
const probe = (begunAt: number, reason: string) => ({
  lastProbe: { begunAt, at: begunAt + 10, outcome: 'failed', reason: because(reason) },
});
const healthOf = (messages: object): EntryMeta => ({
  messages: { state: 'open', probing: false, since: T0, ...messages },
  media: { state: 'steady', probing: false },
  refusedAlike: [],
});

/** What the store is told, one after the other; the last one stays. */
async function trialOf(...told: EntryMeta[]) {
  let looks = 0;
  const trial = await tryShop(
    {
      shopHealth: () => Promise.resolve(told[Math.min(looks++, told.length - 1)]),
      requestProbe: () => Promise.resolve(),
      hasten: () => Promise.resolve(0),
      counts: () => Promise.resolve([]),
    },
    SHOP,
    { timeoutMs: 2000 },
  );
  return trial.parts;
}

test('a probe that began after the request counts, whatever the clock of the gateway', async () => {
  const parts = await trialOf(
    healthOf(probe(T0, 'before')),
    healthOf({ ...probe(T0, 'before'), probing: true }),
    healthOf(probe(T0 + 60_000, 'since')),
  );
  expect(parts).toMatchObject([{ part: 'messages', outcome: 'failed' }]);
});

test('the last probe before the request does not count, nor one that was under way', async () => {
  const before = healthOf({ ...probe(T0, 'before'), probing: true });
  expect(await trialOf(before)).toMatchObject([{ outcome: 'no_answer' }]);
  const underWay = healthOf(probe(T0 + 1000, 'under way'));
  expect(await trialOf(before, underWay)).toMatchObject([{ outcome: 'no_answer' }]);
  const since = healthOf(probe(T0 + 2000, 'since'));
  expect(await trialOf(before, underWay, since)).toMatchObject([
    { outcome: 'failed', reason: 'since' },
  ]);
});

test('what is well again without a probe has delivered', async () => {
  const steady = { state: 'steady', probing: false };
  const parts = await trialOf(healthOf(probe(T0, 'before')), healthOf(steady));
  expect(parts).toEqual([{ part: 'messages', outcome: 'delivered' }]);
});

test('what is well again because the probe under way had nothing to try has delivered nothing', async () => {
  const underWay = healthOf({ ...probe(T0, 'before'), probing: true });
  const lastProbe = { begunAt: T0 + 1000, at: T0 + 1010, outcome: 'nothing_to_try' };
  const parts = await trialOf(underWay, healthOf({ state: 'steady', probing: false, lastProbe }));
  expect(parts).toEqual([{ part: 'messages', outcome: 'nothing_to_try' }]);
});
