import { expect, test } from '@jest/globals';
import { retryDelayMs } from '../../src/delivery/retry-schedule.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test.each([
  [1, SECOND],
  [2, 5 * SECOND],
  [3, 30 * SECOND],
  [4, 2 * MINUTE],
  [5, 10 * MINUTE],
  [6, 30 * MINUTE],
  [7, HOUR],
  [500, HOUR],
])('after attempt %i waits up to %i ms, spread over all of it', (attempts, longest) => {
  expect(retryDelayMs(attempts, 0)).toBe(0);
  expect(retryDelayMs(attempts, 0.5)).toBe(longest / 2);
  expect(retryDelayMs(attempts, 0.999999)).toBeLessThanOrEqual(longest);
});

test('Retry-After is a lower bound, at most an hour', () => {
  expect(retryDelayMs(1, 0, 7000)).toBe(7000);
  expect(retryDelayMs(1, 0.5, 7000)).toBe(7500);
  expect(retryDelayMs(1, 0, 24 * HOUR)).toBe(HOUR);
});
