import { expect, test } from '@jest/globals';
import { StoreFailure } from '../../src/spool/errors.ts';

test('who listens only after the failure is told too, and of the first cause', () => {
  const failure = new StoreFailure();
  const told: string[] = [];
  failure.onFail(({ message }) => told.push(`early: ${message}`));
  failure.fail(new Error('first'));
  failure.fail(new Error('second'));
  failure.onFail(({ message }) => told.push(`late: ${message}`));
  expect(told).toEqual(['early: first', 'late: first']);
});
