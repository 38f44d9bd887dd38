import { expect, test } from '@jest/globals';
import { budgetsInMemory } from '../../src/runtime/budgets.ts';
import { describeBudgets } from './budgets-cases.ts';

const HOUR = 3_600_000;

describeBudgets('in memory', () => {
  let now = 1_000_000;
  return Promise.resolve({
    open: budgetsInMemory(() => now),
    pass: (ms) => void (now += ms),
  });
});

test('a budget in memory forgets the key that has been unused for the longest, not the others', async () => {
  let now = 0;
  const budget = budgetsInMemory(() => now)('guesses', { burst: 1, perHour: 1 });
  for (let key = 0; key <= 10_000; key += 1) await budget.spend(String(key));
  expect(await budget.spend('1')).toBe(HOUR);
  now = HOUR / 2;
  expect(await budget.spend('1')).toBe(HOUR / 2);
  expect(await budget.spend('0')).toBe(0);
});
