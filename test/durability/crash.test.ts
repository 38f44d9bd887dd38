import { afterEach, expect, test } from '@jest/globals';
import { crash, describe } from '../../bench/crash/run.ts';
import { Workbench } from '../../bench/support/workbench.ts';

let bench = new Workbench();

afterEach(async () => {
  await bench.end();
  bench = new Workbench();
});

test('a gateway that is killed under load loses nothing and repeats nothing', async () => {
  const report = await crash(bench, {
    kills: 4,
    seed: 20_260_401,
    faultShare: 0.2,
    lanes: 4,
    meanPauseMs: 60,
    lifeMs: 1500,
    drainWithinMs: 150_000,
    onProgress: () => undefined,
  });
  console.log(describe(report));
  expect(report.faults).toEqual([]);
  expect(report.kills).toBe(4);
  for (const count of Object.values(report.acknowledged)) expect(count).toBeGreaterThan(0);
  expect([...report.platformFaults.keys()].toSorted()).toEqual([
    '429',
    '500',
    'empty',
    'reset',
    'reset-after-commit',
  ]);
});
