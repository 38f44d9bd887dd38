import { expect, test } from '@jest/globals';
import { combinedPoint, LiveFigures } from '../../../src/console/server/live-figures.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';

const figures = () =>
  new LiveFigures({
    metrics: createMetrics(),
    clock: () => 0,
    queued: () => Promise.resolve(0),
    logger: silentLogger,
  });

test('without deliveries there are no delivery times', () => {
  expect(figures().latency()).toBeUndefined();
});

test.each([
  [1, { p50: 5000, p95: 5000, p99: 5000 }],
  [12, { p50: 10, p95: 5000, p99: 5000 }],
  [20, { p50: 10, p95: 10, p99: 5000 }],
  [99, { p50: 10, p95: 10, p99: 5000 }],
  [100, { p50: 10, p95: 10, p99: 10 }],
])('one slow delivery of %d: the ranks are rounded up', (count, expected) => {
  const live = figures();
  live.delivered('sms', 5000);
  for (let nth = 1; nth < count; nth += 1) live.delivered('email', 10);
  const latency = live.latency();
  expect(latency?.count).toBe(count);
  for (const name of ['p50', 'p95', 'p99'] as const) {
    // The precision is 10 %.
    expect(Math.abs((latency?.[name] ?? 0) / expected[name] - 1)).toBeLessThan(0.1);
  }
});

test('a point of the day has the sums of its steps, and the longest queue', () => {
  const step = (at: number, email: number, queued: number) => ({
    ...{ at, queued, p50: at, p95: at },
    accepted: { email, sms: 1, web_chat: 0 },
    delivered: { email: 1, sms: 0, web_chat: 0 },
  });
  expect(combinedPoint([step(10, 3, 0), step(20, 4, 90), step(30, 0, 1)], undefined)).toEqual({
    ...{ at: 30, queued: 90 },
    accepted: { email: 7, sms: 3, web_chat: 0 },
    delivered: { email: 3, sms: 0, web_chat: 0 },
  });
  expect(combinedPoint([step(10, 3, 0)], { p50: 5, p95: 9 })).toMatchObject({ p50: 5, p95: 9 });
});
