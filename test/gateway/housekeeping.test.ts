import { expect, jest, test } from '@jest/globals';
import { Housekeeping } from '../../src/gateway/housekeeping.ts';
import { Backlog } from '../../src/intake/intake.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { ends } from '../support/ends.ts';
import { SHOP } from '../support/entries.ts';

test('what waits of each shop is counted while a long sweep goes on', async () => {
  jest.useFakeTimers();
  ends(() => void jest.useRealTimers());
  let waiting = 1;
  let endSweep: () => void = () => undefined;
  const spool: Pick<Spool, 'backlogBytes' | 'counts' | 'sweep'> = {
    backlogBytes: () => Promise.resolve(new Map([[SHOP, waiting]])),
    counts: () => Promise.resolve([]),
    sweep: () =>
      new Promise((resolve) => {
        endSweep = () => resolve({ entries: 0, raws: 0, files: 0 });
      }),
  };
  const backlog = new Backlog();
  const housekeeping = new Housekeeping({
    // It uses these three alone.
    spool: spool as Spool,
    backlog,
    renewSummaries: () => Promise.resolve(0),
    retention: () => ({ rawMs: 1, deadMs: 1, entriesMs: 1 }),
    shopNames: () => new Map(),
    metrics: createMetrics(),
    clock: Date.now,
    logger: silentLogger,
  });
  housekeeping.start();
  await jest.advanceTimersByTimeAsync(1000);
  expect(backlog.bytesOf(SHOP)).toBe(1);
  waiting = 2;
  await jest.advanceTimersByTimeAsync(15_000);
  expect(backlog.bytesOf(SHOP)).toBe(2);
  endSweep();
  await housekeeping.stop();
});
