import { expect, test } from '@jest/globals';
import {
  markSent,
  nextNoticeAt,
  pendingFor,
  withoutEnded,
} from '../../../src/operations/alerts/pending-notices.ts';
import type { AlertRecord } from '../../../src/operations/alerts/alert.ts';
import { HOUR, MINUTE, NOW, SECOND } from './some-status.ts';

const TIMING = { groupMs: 10 * SECOND, repeatMs: 4 * HOUR };

const record = (key: string, more: Partial<AlertRecord> = {}): AlertRecord => ({
  ...{ key, rule: 'dead', shop: 'acme', severity: 'critical', summary: key, todo: 'retry' },
  ...{ figure: 1, phase: 'firing', since: NOW, changedAt: NOW, told: {} },
  ...more,
});

const keys = (records: readonly AlertRecord[] = []): string[] => records.map(({ key }) => key);

/** What the webhook is told at a time, and the records afterwards. */
function tell(records: readonly AlertRecord[], at: number) {
  const pending = pendingFor('webhook', records, at, TIMING);
  return { pending, after: pending ? markSent('webhook', pending, records, at) : records };
}

test('what changes within a short time of the first is told together', () => {
  const records = [record('a'), record('b', { changedAt: NOW + 8 * SECOND })];
  expect(pendingFor('webhook', records, NOW + 9 * SECOND, TIMING)).toBeUndefined();
  expect(nextNoticeAt('webhook', records, TIMING.groupMs)).toBe(NOW + 10 * SECOND);
  expect(keys(tell(records, NOW + 10 * SECOND).pending?.fired)).toEqual(['a', 'b']);
});

test('once told it is quiet until the reminder, which tells all that goes on', () => {
  const { after } = tell([record('a')], NOW + MINUTE);
  const both = tell([...after, record('b', { changedAt: NOW + HOUR })], NOW + 2 * HOUR);
  expect(both.pending).toMatchObject({ still: [] });
  expect(keys(both.pending?.fired)).toEqual(['b']);
  expect(tell(both.after, NOW + 3 * HOUR).pending).toBeUndefined();
  const reminder = tell(both.after, NOW + MINUTE + 4 * HOUR);
  expect(keys(reminder.pending?.still)).toEqual(['a', 'b']);
  expect(tell(reminder.after, NOW + 7 * HOUR).pending).toBeUndefined();
});

test('an end is told once to whoever was told of the beginning, and then forgotten', () => {
  const { after } = tell([record('a')], NOW + MINUTE);
  const over = after.map((r) => ({ ...r, phase: 'resolved' as const, changedAt: NOW + HOUR }));
  expect(keys(withoutEnded(over, ['webhook']))).toEqual(['a']);
  const end = tell(over, NOW + 2 * HOUR);
  expect(keys(end.pending?.resolved)).toEqual(['a']);
  expect(withoutEnded(end.after, ['webhook'])).toEqual([]);
});

test('what began and ended while a target was away is not sent to it', () => {
  const over = [record('a', { phase: 'resolved' })];
  expect(pendingFor('email', over, NOW + HOUR, TIMING)).toBeUndefined();
  expect(withoutEnded(over, ['email', 'webhook'])).toEqual([]);
});

test('a target that comes late is told what goes on', () => {
  const { after } = tell([record('a')], NOW + MINUTE);
  expect(keys(pendingFor('email', after, NOW + HOUR, TIMING)?.fired)).toEqual(['a']);
});

test('ten times as many, or critical after a warning, are sent at once', () => {
  const { after } = tell([record('a'), record('b', { severity: 'warning' })], NOW + MINUTE);
  const grown = (more: Partial<AlertRecord>) => after.map((r) => ({ ...r, ...more }));
  expect(
    tell(
      after.map((r) => ({ ...r, figure: 9 })),
      NOW + 2 * MINUTE,
    ).pending,
  ).toBeUndefined();
  expect(
    keys(tell(grown({ severity: 'warning', figure: 10 }), NOW + 2 * MINUTE).pending?.worse),
  ).toEqual(['a', 'b']);
  expect(keys(tell(grown({ severity: 'critical' }), NOW + 2 * MINUTE).pending?.worse)).toEqual([
    'b',
  ]);
});

test('what is only pending is not told', () => {
  expect(
    pendingFor('webhook', [record('a', { phase: 'pending' })], NOW + HOUR, TIMING),
  ).toBeUndefined();
});
