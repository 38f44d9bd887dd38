import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { asEntryId, type EntryId } from '../../src/domain/ids.ts';
import { FIRST_REFUSAL_NUMBER } from '../../src/spool/entry.ts';
import { refusalNumber } from '../../src/spool/refusals.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { OTHER_SHOP, SHOP } from '../support/entries.ts';

const MINUTE = 60_000;
const WORDS = '422 invalid contact.email';

export interface RefusalsUnderTest {
  /** Two gateways, or one and what it is after a restart. */
  readonly one: Pick<Spool, 'countRefusal' | 'refusals' | 'refusedBefore' | 'endRefusal'>;
  readonly other: Pick<Spool, 'countRefusal' | 'refusals' | 'refusedBefore' | 'endRefusal'>;
  /** Lets time pass. */
  pass(ms: number): Promise<void> | void;
  remove(): Promise<void> | void;
}

const entryOf = (n: number): EntryId =>
  asEntryId(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);

/** What every backend must do with refusals; `refusals.ts` says it in words. */
export function describeRefusals(
  backend: string,
  open: () => Promise<RefusalsUnderTest> | RefusalsUnderTest,
): void {
  describe(`refusals on ${backend}`, () => {
    let under: RefusalsUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.remove());

    interface Given {
      readonly lane?: number;
      readonly words?: string;
      readonly waited?: boolean;
      readonly shopId?: typeof SHOP;
    }
    /** The entry of that number, in a lane of its own, at one gateway or the other in turn. */
    const refuse = (n: number, given: Given = {}) => {
      const { lane = n, words = WORDS, waited = false, shopId = SHOP } = given;
      return (n % 2 === 0 ? under.one : under.other).countRefusal({
        ...{ shopId, words, number: refusalNumber(words), id: entryOf(n), waited },
        lane: { channel: 'email', lane: `lane ${lane}` },
      });
    };
    const DIES = { waits: false, isNew: false };
    const WAITS = { waits: true, isNew: false };
    const fiveAlike = async (given?: Given) => {
      for (const n of [1, 2, 3, 4]) expect(await refuse(n, given)).toEqual(DIES);
      expect(await refuse(5, given)).toEqual({ waits: true, isNew: true });
    };
    const end = async () => {
      const dead = await under.one.refusedBefore(SHOP, refusalNumber(WORDS));
      await under.other.endRefusal(SHOP, refusalNumber(WORDS));
      return dead;
    };

    test('of five lanes are alike at all gateways, told once; what comes then waits too', async () => {
      await fiveAlike();
      expect(await refuse(6)).toEqual(WAITS);
      expect(await refuse(7, { lane: 1 })).toEqual(WAITS);
      const known = [
        {
          ...{ shopId: SHOP, number: refusalNumber(WORDS), words: WORDS },
          ...{ since: expect.any(Number), count: 7 },
        },
      ];
      expect(await under.one.refusals()).toEqual(known);
      expect(await under.other.refusals()).toEqual(known);
      expect(refusalNumber(WORDS)).toBeGreaterThanOrEqual(FIRST_REFUSAL_NUMBER);
    });

    test.each<[string, () => Promise<unknown>]>([
      ['four lanes', async () => Promise.all([1, 2, 3, 4].map((n) => refuse(n)))],
      [
        'one lane a hundred times',
        () => Promise.all(Array.from({ length: 100 }, (_, n) => refuse(n, { lane: 1 }))),
      ],
      [
        'five lanes in more than ten minutes',
        async () => {
          for (let n = 1; n < 9; n += 1) {
            await refuse(n);
            await under.pass(2.6 * MINUTE);
          }
        },
      ],
      [
        'five lanes with different words',
        () => Promise.all([1, 2, 3, 4, 5].map((n) => refuse(n, { words: `422 field${n}` }))),
      ],
      [
        'five lanes of two shops',
        () =>
          Promise.all(
            [1, 2, 3, 4, 5].map((n) => refuse(n, { shopId: n % 2 === 0 ? SHOP : OTHER_SHOP })),
          ),
      ],
    ])('of %s are not alike', async (_, happens) => {
      await happens();
      expect(await under.one.refusals()).toEqual([]);
    });

    test('of five lanes at the same time are new once', async () => {
      const counted = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => refuse(n)));
      expect(counted.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(counted.filter(({ waits }) => waits)).toHaveLength(4);
    });

    test('one lane that is refused again and again does not hide the others', async () => {
      for (const n of [1, 2, 3]) await refuse(n);
      for (let n = 100; n < 200; n += 1) await refuse(n, { lane: 100 });
      expect(await refuse(4)).toEqual({ waits: true, isNew: true });
      const dead = await end();
      expect(dead).toEqual(expect.arrayContaining([1, 2, 3].map(entryOf)));
      expect(dead.length).toBeLessThanOrEqual(3 + 25);
    });

    test.each([5, 6, 30])(
      'that are over bring back who was refused before they were known, once: %i lanes',
      async (lanes) => {
        await fiveAlike();
        for (let n = 6; n <= lanes; n += 1) await refuse(n);
        expect((await end()).toSorted()).toEqual([1, 2, 3, 4].map(entryOf));
        expect(await end()).toEqual([]);
        expect(await under.one.refusals()).toEqual([]);
        expect(await refuse(99)).toEqual(DIES);
      },
    );

    test('the end of one that is not known changes nothing', async () => {
      for (const n of [1, 2, 3, 4]) await refuse(n);
      expect(await end()).toEqual([]);
      expect(await refuse(5)).toEqual({ waits: true, isNew: true });
      expect(await end()).toHaveLength(4);
    });

    test('are over after ten minutes without a further one; a canary is none', async () => {
      await fiveAlike();
      await under.pass(9 * MINUTE);
      await refuse(6);
      for (let minute = 0; minute < 9; minute += 1) {
        await under.pass(MINUTE);
        expect(await refuse(5, { waited: true })).toEqual(WAITS);
      }
      expect(await under.one.refusals()).toMatchObject([{ count: 6 }]);
      await under.pass(MINUTE + 1000);
      expect(await under.other.refusals()).toEqual([]);
      expect(await under.one.refusals()).toEqual([]);
    });

    test('who has waited and is refused again has had its chance; five others are alike again', async () => {
      await fiveAlike();
      await under.pass(11 * MINUTE);
      await under.one.refusals();
      for (let n = 1; n <= 20; n += 1) expect(await refuse(n, { waited: true })).toEqual(DIES);
      expect(await under.one.refusals()).toEqual([]);
      await fiveAlike();
    });

    test('that ended by a delivery are counted again, also those of entries that have waited', async () => {
      await fiveAlike();
      for (const n of [6, 7, 8, 9]) expect(await refuse(n)).toEqual(WAITS);
      await end();
      for (const n of [5, 6, 7, 8]) expect(await refuse(n, { waited: true })).toEqual(DIES);
      expect(await refuse(9, { waited: true })).toEqual({ waits: true, isNew: true });
      expect((await end()).toSorted()).toEqual([5, 6, 7, 8].map(entryOf));
    });

    test('with other words than those that an entry has waited for are counted', async () => {
      await fiveAlike();
      for (const n of [5, 6, 7, 8]) await refuse(n, { waited: true, words: '422 other' });
      expect(await refuse(9, { words: '422 other' })).toEqual({ waits: true, isNew: true });
    });

    test('that go on for long keep whom to bring back, whatever else is refused meanwhile', async () => {
      await fiveAlike();
      for (let minute = 0; minute < 15; minute += 3) {
        await under.pass(3 * MINUTE);
        await refuse(20 + minute);
        await refuse(40 + minute, { words: '422 other' });
        await under.one.refusals();
      }
      expect((await end()).toSorted()).toEqual([1, 2, 3, 4].map(entryOf));
    });
  });
}
