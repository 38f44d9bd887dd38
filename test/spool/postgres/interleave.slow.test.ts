import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CallName } from '../../support/interleaving/calls.ts';
import { withStops } from '../../support/interleaving/interleaver.ts';
import { MUTATIONS } from '../../support/interleaving/mutations.ts';
import { atRandom, interrupted } from '../../support/interleaving/schedules.ts';
import { openInterleaved } from '../../support/interleaving/store.ts';
import { runCount } from '../../support/run-count.ts';

let opened: Awaited<ReturnType<typeof openInterleaved>>;

beforeAll(async () => {
  opened = await openInterleaved();
});
afterAll(async () => {
  expect(await opened.close()).toBe(0);
});

/** The first call stops at each of its steps, while another gateway makes the second, and a third one the last. */
const CASES: readonly (readonly [CallName, ...CallName[]])[] = [
  ['accept', 'accept', 'claim'],
  ['accept', 'sweep'],
  ['accept', 'erase'],
  ['accept an equal one', 'accept an equal one'],
  ['accept mails', 'accept mails'],
  ['claim', 'claim'],
  ['claim', 'settle late'],
  ['settle late', 'claim'],
  ['settle', 'accept'],
  ['settle, claim', 'accept', 'claim'],
  ['settle, claim', 'discard after its lease'],
  ['detach', 'erase in flight'],
  ['renew', 'claim'],
  ['requeue', 'claim'],
  ['discard after its lease', 'claim'],
  ['restore', 'sweep'],
  ['sweep', 'requeue'],
  ['recover', 'claim'],
];

/** `npm run bench -- interleave` plays all pairs and many more orders; `--mutations` shows what is found. */
describe('the store is right, whatever commits between the steps of a call', () => {
  test.each(CASES.map((names) => [names.join(', '), names] as const))('%s', async (_, names) => {
    let runs = 0;
    for await (const { run, violations } of interrupted(opened.store, names)) {
      runs += 1;
      expect([run, violations]).toEqual([run, []]);
    }
    expect(runs).toBeGreaterThan(3);
  });
});

test('the store is right after three calls in any order', async () => {
  for (let seed = 1; seed <= runCount(50); seed += 1) {
    const { run, violations } = await atRandom(opened.store, seed);
    expect([run, violations]).toEqual([run, []]);
  }
});

test('a safeguard that is taken away is noticed', async () => {
  const { store } = opened;
  const mutation = MUTATIONS.find(
    ({ name }) => name === 'accept does not look for people erased meanwhile',
  );
  await store.interleaver.mutate(mutation);
  try {
    const found: string[] = [];
    for await (const { violations } of interrupted(store, ['accept', 'erase'])) {
      found.push(...violations);
    }
    expect(found).not.toEqual([]);
  } finally {
    await store.interleaver.mutate();
  }
});

test('stops stand between statements, and nowhere within one', () => {
  const body = `DECLARE a int := 1; BEGIN -- ; (
    a := CASE WHEN true THEN 1 END; PERFORM f(';', (SELECT 1));
    IF EXISTS (SELECT) THEN RETURN; END IF; END`;
  expect(withStops(body).replaceAll(' ASSERT interleaved_stop(); ', '|')).toBe(
    `DECLARE a int := 1; BEGIN -- ; (
    a := CASE WHEN true THEN 1 END; PERFORM f(';', (SELECT 1));|
    IF EXISTS (SELECT) THEN| RETURN; END IF; END`,
  );
});
