import { expect, test } from '@jest/globals';
import { AlikeRefusals, CANARY_EVERY_MS } from '../../src/delivery/alike-refusals.ts';
import { SHOP } from '../support/entries.ts';

function setting() {
  const time = { now: 1_000_000 };
  return { time, alike: new AlikeRefusals(() => time.now) };
}
const refusal = (number: number) => ({
  ...{ shopId: SHOP, number, words: `422 field${number}`, since: 7, count: 5 },
});

test('a canary is due each minute, or at once on an operator’s word', () => {
  const { alike, time } = setting();
  alike.know([refusal(3)]);
  expect(alike.dueCanaries()).toEqual([]);
  time.now += CANARY_EVERY_MS;
  alike.know([refusal(3), refusal(4)]);
  expect(alike.dueCanaries()).toEqual([{ number: 3, isAsked: false }]);
  expect(alike.dueCanaries()).toEqual([]);
  alike.tryNow();
  expect(alike.mustRead).toBe(true);
  alike.know([refusal(3), refusal(4)]);
  expect(alike.mustRead).toBe(false);
  expect(alike.dueCanaries()).toEqual([
    { number: 3, isAsked: true },
    { number: 4, isAsked: true },
  ]);
  time.now += CANARY_EVERY_MS - 1;
  expect(alike.dueCanaries()).toEqual([]);
  time.now += 1;
  expect(alike.dueCanaries()).toHaveLength(2);
});

test('what is over has no canary and is not reported', () => {
  const { alike, time } = setting();
  alike.know([refusal(3), refusal(4)]);
  expect(alike.report()).toEqual([
    { words: '422 field3', since: 7, count: 5 },
    { words: '422 field4', since: 7, count: 5 },
  ]);
  time.now += CANARY_EVERY_MS;
  alike.know([refusal(4)]);
  expect(alike.dueCanaries()).toEqual([{ number: 4, isAsked: false }]);
  expect(alike.report()).toEqual([{ words: '422 field4', since: 7, count: 5 }]);
});
