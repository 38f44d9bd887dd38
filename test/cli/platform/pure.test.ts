import { describe, expect, test } from '@jest/globals';
import { fit } from '../../../src/cli/table.ts';
import {
  createdRange,
  endOf,
  instant,
  localTime,
  mailbox,
  metric,
} from '../../../src/cli/platform/values.ts';

describe('columns fit into a screen', () => {
  const columns = [
    { head: 'a', min: 10 },
    { head: 'b', min: 5, max: 20, drop: 1 },
    { head: 'c', min: 5, max: 8, drop: 2 },
  ];
  test.each([
    [200, { a: 10, b: 20, c: 8 }],
    // What is left over is shared; what one does not need is for those after it.
    [28, { a: 10, b: 7, c: 7 }],
    [24, { a: 10, b: 5, c: 5 }],
    [23, { a: 10, b: 11 }],
    [17, { a: 10, b: 5 }],
    [16, { a: 10 }],
    [3, { a: 10 }],
  ])('of %d characters', (width, expected) => {
    const shown = fit(columns, width).map(({ column, width: each }) => [column.head, each]);
    expect(Object.fromEntries(shown)).toEqual(expected);
  });
});

describe('times', () => {
  const local = (year: number, month: number, day: number, hour = 0, minute = 0) =>
    new Date(year, month, day, hour, minute).toISOString();

  test.each([
    ['2026-04-30T12:00Z', '2026-04-30T12:00:00.000Z'],
    ['2026-04-30T12:00:05.5+02:00', '2026-04-30T10:00:05.500Z'],
    ['2026-04-30 14:05', local(2026, 3, 30, 14, 5)],
    ['2026-04-30', local(2026, 3, 30)],
  ])('%s is %s', (value, expected) => expect(instant(value)).toBe(expected));

  test.each(['', 'now', '5', '2026-13-01', '2026-04-30T25:00', '30.04.2026', '2026-02-30T1:00'])(
    '%j is no time',
    (value) => expect(() => instant(value)).toThrow('Expected a day or a time'),
  );

  test('a day as an end is its last millisecond', () => {
    expect(endOf('2026-04-30')).toBe(new Date(Date.parse(local(2026, 4, 1)) - 1).toISOString());
    expect(endOf('2026-04-30T12:00Z')).toBe('2026-04-30T12:00:00.000Z');
  });

  test.each([
    [{}, undefined],
    [{ created: '7d' }, 'relative:-7d,'],
    [{ created: 'relative:-7d,' }, 'relative:-7d,'],
    [{ created: 'whatever' }, 'whatever'],
    [{ createdFrom: 'A', createdTo: 'B' }, 'A,B'],
    [{ createdFrom: 'A' }, 'A,1970-01-01T00:00:00.000Z'],
  ])('%j is the range %s', (options, expected) => {
    expect(createdRange(options, 0)).toBe(expected);
  });

  test.each([
    [local(2026, 0, 2, 3, 4), '2026-01-02 03:04'],
    ['soon', 'soon'],
    [null, ''],
  ])('people read %s as %s', (value, shown) => expect(localTime(value)).toBe(shown));
});

test.each([
  ['ann@example.com', { email: 'ann@example.com' }],
  ['Ann Lee <ann@example.com>', { email: 'ann@example.com', name: 'Ann Lee' }],
  ['"Lee, Ann" <ann@example.com>', { email: 'ann@example.com', name: 'Lee, Ann' }],
])('the mailbox %s', (value, expected) => expect(mailbox(value)).toEqual([expected]));

test.each([
  ['visits', { metric_name: 'visits' }],
  ['visits=3', { metric_name: 'visits', value: 3 }],
  ['visits=-1.5e3', { metric_name: 'visits', value: -1500 }],
])('the metric %s', (value, expected) => expect(metric(value)).toEqual(expected));
