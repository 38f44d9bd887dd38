import { describe, expect, test } from '@jest/globals';
import { AlikeRefusals } from '../../src/delivery/alike-refusals.ts';
import { FIRST_REFUSAL_NUMBER } from '../../src/spool/entry.ts';
import { asEntryId } from '../../src/domain/ids.ts';

const MINUTE = 60_000;
const WORDS = '422 invalid contact.email';

function setting() {
  const time = { now: 1_000_000 };
  const alike = new AlikeRefusals(() => time.now);
  const refuse = (n: number | string, words = WORDS, again = false) =>
    alike.refused(`lane ${n}`, asEntryId(`entry ${n}`), words, again);
  /** Five lanes at once; returns the number that the fifth waits for. */
  const fiveAlike = (words = WORDS) => {
    for (const n of [1, 2, 3, 4]) expect(refuse(n, words)).toEqual({ isNew: false });
    const { waitsFor } = refuse(5, words);
    if (waitsFor === undefined) throw new Error('they are not alike');
    return waitsFor;
  };
  return { time, alike, refuse, fiveAlike };
}

test('of entries that were dead before, those of the last ten minutes are known, a hundred at most', () => {
  const { time, alike, refuse } = setting();
  for (let n = 0; n < 1000; n += 1) {
    alike.refused('one lane', asEntryId(`old ${n}`), WORDS, false);
    time.now += MINUTE;
  }
  for (const n of [1, 2, 3]) refuse(n);
  const { waitsFor = 0 } = refuse(4);
  const dead = alike.delivered(waitsFor) ?? [];
  expect(dead).toContain(asEntryId('entry 3'));
  expect(dead.filter((id) => id.startsWith('old')).length).toBeLessThanOrEqual(10);
});

describe('the same words', () => {
  test('to five lanes within ten minutes are alike, told once; what comes then waits too', () => {
    const { refuse, alike } = setting();
    for (const n of [1, 2, 3, 4]) expect(refuse(n)).toEqual({ isNew: false });
    const fifth = refuse(5);
    expect(fifth).toEqual({ isNew: true, waitsFor: expect.any(Number) });
    expect(fifth.waitsFor).toBeGreaterThanOrEqual(FIRST_REFUSAL_NUMBER);
    expect(refuse(6)).toEqual({ isNew: false, waitsFor: fifth.waitsFor });
    expect(refuse(1)).toEqual({ isNew: false, waitsFor: fifth.waitsFor });
    expect(alike.numbers()).toEqual([fifth.waitsFor]);
    expect(alike.report()).toEqual([{ words: WORDS, since: 1_000_000, count: 7 }]);
  });

  test.each<[string, (set: ReturnType<typeof setting>) => void]>([
    ['four lanes', ({ refuse }) => [1, 2, 3, 4].forEach((n) => refuse(n))],
    ['one lane a hundred times', ({ refuse }) => Array.from({ length: 100 }, () => refuse(1))],
    [
      'five lanes in more than ten minutes',
      ({ refuse, time }) =>
        [1, 2, 3, 4, 5, 6, 7, 8].forEach((n) => {
          refuse(n);
          time.now += 2.6 * MINUTE;
        }),
    ],
    [
      'five lanes with different words',
      ({ refuse }) => [1, 2, 3, 4, 5].forEach((n) => refuse(n, `422 field${n}`)),
    ],
  ])('%s: not alike', (_, happens) => {
    const set = setting();
    happens(set);
    expect(set.alike.numbers()).toEqual([]);
    expect(set.alike.report()).toEqual([]);
  });

  test('have one number, in every process; other words have another', () => {
    const [one, two] = [setting(), setting()];
    expect(one.fiveAlike()).toBe(two.fiveAlike());
    expect(one.fiveAlike('400')).not.toBe(two.alike.numbers()[0]);
    expect(one.alike.numbers()).toHaveLength(2);
  });

  test('of a thousand kinds are forgotten, but for those that entries wait for', () => {
    const { refuse, fiveAlike, alike } = setting();
    const number = fiveAlike();
    for (let n = 0; n < 1000; n += 1) refuse(n, `400 word${n}`);
    expect(alike.numbers()).toEqual([number]);
    expect(refuse(7).waitsFor).toBe(number);
  });
});

describe('the canary', () => {
  test('is due each minute, or at once on an operator’s word', () => {
    const { fiveAlike, alike, time } = setting();
    const number = fiveAlike();
    expect(alike.dueCanaries()).toEqual([]);
    time.now += MINUTE;
    expect(alike.dueCanaries()).toEqual([number]);
    expect(alike.dueCanaries()).toEqual([]);
    alike.tryNow();
    expect(alike.dueCanaries()).toEqual([number]);
    time.now += MINUTE - 1;
    expect(alike.dueCanaries()).toEqual([]);
    time.now += 1;
    expect(alike.dueCanaries()).toEqual([number]);
  });

  test('that is delivered ends it', () => {
    const { fiveAlike, refuse, alike } = setting();
    const number = fiveAlike();
    expect(alike.delivered(number)).toBeDefined();
    expect(alike.numbers()).toEqual([]);
    expect(alike.delivered(number)).toBeUndefined();
    expect(refuse(9)).toEqual({ isNew: false });
  });

  test.each([5, 6, 30])(
    'brings back those who were refused before it was known, and nobody else: %i lanes',
    (lanes) => {
      const { fiveAlike, refuse, alike } = setting();
      const number = fiveAlike();
      for (let n = 6; n <= lanes; n += 1) refuse(n);
      expect(alike.delivered(number)?.toSorted()).toEqual(
        ['entry 1', 'entry 2', 'entry 3', 'entry 4'].map(asEntryId),
      );
    },
  );

  test('that is refused again is nothing new', () => {
    const { fiveAlike, refuse, alike, time } = setting();
    const number = fiveAlike();
    for (let minute = 0; minute < 9; minute += 1) {
      time.now += MINUTE;
      expect(refuse(5, WORDS, true)).toEqual({ isNew: false, waitsFor: number });
    }
    expect(alike.report()).toMatchObject([{ count: 5 }]);
    time.now += MINUTE;
    expect(alike.takeQuiet()).toEqual([number]);
  });
});

describe('after ten minutes without a further one', () => {
  test('it is over, and is told once', () => {
    const { fiveAlike, refuse, alike, time } = setting();
    const number = fiveAlike();
    time.now += 9 * MINUTE;
    refuse(6);
    time.now += 10 * MINUTE - 1;
    expect(alike.takeQuiet()).toEqual([]);
    time.now += 1;
    expect(alike.takeQuiet()).toEqual([number]);
    expect(alike.takeQuiet()).toEqual([]);
    expect(alike.dueCanaries()).toEqual([]);
    expect(alike.numbers()).toEqual([]);
  });

  test('those who have waited and are refused again have had their chance', () => {
    const { fiveAlike, refuse, alike, time } = setting();
    fiveAlike();
    time.now += 10 * MINUTE;
    alike.takeQuiet();
    for (let n = 1; n <= 20; n += 1) expect(refuse(n, WORDS, true)).toEqual({ isNew: false });
    expect(alike.numbers()).toEqual([]);
  });

  test('five others make it alike again', () => {
    const { fiveAlike, alike, time } = setting();
    const number = fiveAlike();
    time.now += 10 * MINUTE;
    alike.takeQuiet();
    expect(fiveAlike()).toBe(number);
  });
});
