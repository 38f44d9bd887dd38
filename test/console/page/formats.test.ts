import { expect, test } from '@jest/globals';
import { due, relative } from '../../../src/console/page/formats.ts';

const NOW = Date.UTC(2026, 4, 1);

test.each([
  [-61_000, '1 min ago', 'now'],
  [-1, 'just now', 'now'],
  [1000, 'now', 'now'],
  [125_000, 'in 2 min', 'in 2 min'],
])('%i ms from now is said to be %s, and due %s', (ms, past, next) => {
  expect(relative(NOW + ms, NOW)).toBe(past);
  expect(due(NOW + ms, NOW)).toBe(next);
});
