import { expect, test } from '@jest/globals';
import { writtenAt } from '../../src/domain/written-at.ts';

const ARRIVAL = Date.parse('2026-05-06T10:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test.each<[what: string, offsetMs: number, isTaken: boolean]>([
  ['30 days before', -30 * DAY_MS, true],
  ['a moment more than 30 days before', -30 * DAY_MS - 1, false],
  ['two hours before', -120 * MINUTE_MS, true],
  ['5 minutes after', 5 * MINUTE_MS, true],
  ['a moment more than 5 minutes after', 5 * MINUTE_MS + 1, false],
  ['at no time that can be read', NaN, false],
  ['at no end of time', Infinity, false],
])('a message that says it was written %s the arrival', (_what, offsetMs, isTaken) => {
  const claimed = ARRIVAL + offsetMs;
  expect(writtenAt(claimed, ARRIVAL)).toBe(isTaken ? claimed : ARRIVAL);
});
