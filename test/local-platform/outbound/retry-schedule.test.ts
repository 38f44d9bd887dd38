import { expect, test } from '@jest/globals';
import {
  nextAttemptAt,
  RETRY_SCHEDULE,
} from '../../../src/local-platform/outbound/reply-sender.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const delayAfter = (attempts: number, ageMs = 0) => {
  const nowMs = 1_800_000_000_000;
  const at = nextAttemptAt(RETRY_SCHEDULE, { storedAtMs: nowMs - ageMs, attempts }, nowMs);
  return at === undefined ? undefined : at - nowMs;
};

test.each([
  [1, MINUTE],
  [2, 5 * MINUTE],
  [3, 15 * MINUTE],
  [4, 30 * MINUTE],
  [5, HOUR],
  [6, 2 * HOUR],
  [7, 4 * HOUR],
  [8, 4 * HOUR],
  [100, 4 * HOUR],
])('after attempt %d the next one is in %d ms', (attempts, expected) => {
  expect(delayAfter(attempts)).toBe(expected);
});

test('a reply is given up when the next attempt would be more than two days after it', () => {
  expect(delayAfter(10, 43 * HOUR)).toBe(4 * HOUR);
  expect(delayAfter(10, 45 * HOUR)).toBeUndefined();
  expect(delayAfter(1, 48 * HOUR)).toBeUndefined();
});

test('with nobody there, a reply is tried some twenty times in two days, not more', () => {
  let ageMs = 0;
  let attempts = 1;
  for (let delay = delayAfter(1); delay !== undefined; delay = delayAfter(attempts, ageMs)) {
    ageMs += delay;
    attempts += 1;
  }
  expect(attempts).toBeGreaterThan(15);
  expect(attempts).toBeLessThan(25);
});
