import { expect, test } from '@jest/globals';
import { withGaps } from '../../../src/console/page/overview/chart-data.ts';

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
