import { describe, expect, test } from '@jest/globals';
import type { OpenBudget } from '../../src/runtime/budgets.ts';

const MINUTE = 60_000;

export interface BudgetsUnderTest {
  readonly open: OpenBudget;
  /** Lets time pass, for all budgets. */
  readonly pass: (ms: number) => Promise<void> | void;
}

/** What holds for budgets wherever they are stored. */
export function describeBudgets(where: string, start: () => Promise<BudgetsUnderTest>): void {
  describe(`budgets ${where}`, () => {
    test('have so much at once, for each key, and then so much in an hour', async () => {
      const { open, pass } = await start();
      const budget = open('guesses', { burst: 3, perHour: 2 });
      for (let n = 0; n < 3; n += 1) expect(await budget.spend('ann')).toBe(0);
      const wait = await budget.spend('ann');
      expect(wait).toBeGreaterThan(29 * MINUTE);
      expect(wait).toBeLessThanOrEqual(30 * MINUTE);
      expect(await budget.spend('bob')).toBe(0);
      expect(await open('others', { burst: 1, perHour: 1 }).spend('ann')).toBe(0);
      await pass(29 * MINUTE);
      expect(await budget.spend('ann')).toBeGreaterThan(0);
      await pass(MINUTE);
      expect(await budget.spend('ann')).toBe(0);
      expect(await budget.spend('ann')).toBeGreaterThan(0);
    });

    test('spend nothing of an amount that they do not have', async () => {
      const { open } = await start();
      const budget = open('bytes', { burst: 100, perHour: 100 });
      expect(await budget.spend('net', 101)).toBeGreaterThan(0);
      expect(await budget.spend('net', 60)).toBe(0);
      expect(await budget.spend('net', 60)).toBeGreaterThan(0);
      expect(await budget.spend('net', 40)).toBe(0);
    });

    test('take an amount back, and are never more than full', async () => {
      const { open } = await start();
      const budget = open('bytes', { burst: 100, perHour: 100 });
      await budget.spend('net', 100);
      await budget.refund('net', 30);
      expect(await budget.spend('net', 31)).toBeGreaterThan(0);
      expect(await budget.spend('net', 30)).toBe(0);
      await budget.refund('net', 5000);
      await budget.refund('unknown', 5000);
      for (const key of ['net', 'unknown']) {
        expect(await budget.spend(key, 100)).toBe(0);
        expect(await budget.spend(key, 1)).toBeGreaterThan(0);
      }
    });

    test('have no more for many calls at once', async () => {
      const { open } = await start();
      const budget = open('guesses', { burst: 5, perHour: 1 });
      const waits = await Promise.all(Array.from({ length: 20 }, () => budget.spend('ann')));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
    });

    test('allow no more in a time than the burst and what the time adds, whatever is taken back late', async () => {
      const { open, pass } = await start();
      const budget = open('bytes', { burst: 100, perHour: 100 });
      let used = 0;
      const take = async (amount: number) => (await budget.spend('net', amount)) === 0;
      // Reserves all, and takes it back when other amounts have been used.
      for (let quarter = 0; quarter < 8; quarter += 1) {
        const reserved = (await take(50)) ? 50 : 0;
        for (const amount of [30, 20, 10]) if (await take(amount)) used += amount;
        await pass(15 * MINUTE);
        await budget.refund('net', reserved);
        if (await take(40)) used += 40;
        expect(used).toBeLessThanOrEqual(100 + 25 * (quarter + 1) + 1);
      }
    });
  });
}
