import { expect, test } from '@jest/globals';
import { RollingCount } from '../../../src/operations/alerts/alerting.ts';

test('counts what rose within the window', () => {
  const count = new RollingCount(100, 0);
  expect(count.add(10, 3)).toBe(3);
  expect(count.isWhole(10)).toBe(false);
  expect(count.add(90, 5)).toBe(5);
  expect(count.add(115, 5)).toBe(2);
  expect(count.isWhole(115)).toBe(true);
  expect(count.add(189, 5)).toBe(2);
  expect(count.add(190, 5)).toBe(0);
  expect(count.add(300, 9)).toBe(4);
});

test('what rose long before anybody looked is not of late', () => {
  const count = new RollingCount(100, 0);
  expect(count.add(1000, 50)).toBe(0);
  expect(count.isWhole(1050)).toBe(false);
  expect(count.add(1050, 53)).toBe(3);
});
