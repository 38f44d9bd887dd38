import { expect, test } from '@jest/globals';
import { markersNear, markersOf, withGaps } from '../../../src/console/page/overview/chart-data.ts';

const STEP_MS = 10_000;

test('a line is broken where points are missing, in each row', () => {
  expect(
    withGaps(
      [
        [0, 10, 20, 90, 100],
        [1, 2, 3, 4, 5],
        [5, 4, null, 2, 1],
      ],
      STEP_MS,
    ),
  ).toEqual([
    [0, 10, 20, 55, 90, 100],
    [1, 2, 3, null, 4, 5],
    [5, 4, null, null, 2, 1],
  ]);
});

test('a late point and closer ones break no line', () => {
  const data = [
    [0, 10, 35, 45, 47, 49],
    [1, 1, 1, 2, 2, 2],
  ] as const;
  expect(withGaps(data, STEP_MS)).toEqual(data);
  expect(withGaps([[], []], STEP_MS)).toEqual([[], []]);
});

test('starts, reloads and both ends of an alert are marked', () => {
  const markers = markersOf([
    { kind: 'start', at: 1000 },
    { kind: 'reload', at: 2000, outcome: '3 changed' },
    {
      ...{ kind: 'alert', at: 3000, until: 9000, key: 'a', rule: 'disk', severity: 'critical' },
      summary: 'the disk is full',
    },
    { kind: 'alert', at: 4000, key: 'b', rule: 'held', severity: 'warning', summary: '20 held' },
  ]);
  expect(markers.map(({ at, tone, label }) => [at, tone, label])).toEqual([
    [1, 'plain', 'Started'],
    [2, 'plain', 'Configuration: 3 changed'],
    [3, 'danger', 'Alert: the disk is full'],
    [9, 'plain', 'Over: the disk is full'],
    [4, 'warning', 'Alert: 20 held'],
  ]);
  expect(markersNear(markers, 2.4, 0.5).map(({ at }) => at)).toEqual([2]);
});
