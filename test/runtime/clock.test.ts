import { expect, test } from '@jest/globals';
import { everyInStep, untilStep } from '../../src/runtime/clock.ts';

test.each([
  ['at a step', 3000, 1000],
  ['after a step', 3400, 600],
  ['by a timer that fired early', 2999, 1001],
  ['by a timer that fired late', 3020, 980],
])('the next step, asked for %s', (_when, now, untilNext) => {
  expect(untilStep(1000, now)).toBe(untilNext);
});

test('runs until it is ended', async () => {
  let runs = 0;
  const end = await new Promise<() => void>((resolve) => {
    const ends = everyInStep(2, () => {
      runs += 1;
      if (runs === 3) resolve(ends);
    });
  });
  end();
  const ended = runs;
  await new Promise<void>((resolve) => {
    const endOther = everyInStep(2, () => {
      endOther();
      resolve();
    });
  });
  expect(runs).toBe(ended);
});
