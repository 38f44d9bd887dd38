import { mock } from 'node:test';
import { expect, test } from '@jest/globals';
import { Housekeeping } from '../../src/gateway/housekeeping.ts';
import { Backlog } from '../../src/intake/intake.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { soleLeases } from '../../src/runtime/leases.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { ends } from '../support/ends.ts';
import { SHOP } from '../support/entries.ts';
import { waitFor } from '../support/wait-for.ts';

test('what waits of each shop is counted while a long sweep goes on', async () => {
  const interval = mock.method(globalThis, 'setInterval');
  ends(() => interval.mock.restore());
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
    leases: soleLeases,
    backlog,
    renewSummaries: () => Promise.resolve(0),
    retention: () => ({ rawMs: 1, deadMs: 1, entriesMs: 1 }),
    shopNames: () => new Map(),
    metrics: createMetrics(),
    clock: Date.now,
    logger: silentLogger,
  });
  housekeeping.start();
  await waitFor('the count at the start', () => backlog.bytesOf(SHOP) === 1);
  waiting = 2;
  const [[countAgain, everyMs] = []] = interval.mock.calls.map((call) => call.arguments);
  expect(everyMs).toBe(15_000);
  countAgain?.();
  await waitFor('the next count', () => backlog.bytesOf(SHOP) === 2);
  endSweep();
  await housekeeping.stop();
});
