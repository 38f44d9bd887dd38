import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { atWork, type SlowTurn, watchMainThread } from '../../src/runtime/main-thread.ts';
import { waitFor } from '../support/wait-for.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function watch(): SlowTurn[] {
  const seen: SlowTurn[] = [];
  stops.push(watchMainThread((turn) => seen.push(turn)).stop);
  return seen;
}

function compute(ms: number): void {
  const used = process.cpuUsage();
  for (let spent = 0; spent < ms * 1000;) {
    const { user, system } = process.cpuUsage(used);
    spent = user + system;
  }
}

test('names what was at work in a turn with more than 500 ms of processor time', async () => {
  const seen = watch();
  atWork('texts');
  atWork('chat');
  compute(700);
  atWork('http');
  await waitFor('the report', () => seen.length > 0);
  expect(seen).toEqual([{ work: 'chat', ms: expect.any(Number) }]);
  expect(seen[0]?.ms).toBeGreaterThanOrEqual(500);
});

test('says nothing of a turn that only waited', async () => {
  const seen = watch();
  atWork('chat');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  // The look that is due comes before the second turn.
  await nextTurn();
  await nextTurn();
  await waitFor('the next look', () => {
    atWork('smtp');
    compute(600);
    return seen.length > 0;
  });
  expect(seen.map(({ work }) => work)).toEqual(['smtp']);
});

test('says nothing of many short turns', async () => {
  const seen = watch();
  const began = process.cpuUsage();
  await waitFor('a second of processor time', () => {
    compute(50);
    const { user } = process.cpuUsage(began);
    return user > 1_000_000;
  });
  expect(seen).toEqual([]);
});
