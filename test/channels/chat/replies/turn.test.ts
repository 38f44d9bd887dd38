import { expect, test } from '@jest/globals';
import type { PresentVisitor } from '../../../../src/channels/chat/presence.ts';
import { pollIntervalMs } from '../../../../src/channels/chat/replies/poll-interval.ts';
import { inTurn } from '../../../../src/channels/chat/replies/turn.ts';
import { asVisitorId } from '../../../../src/types/ids.ts';
import { SHOP } from '../../../support/entries.ts';

const visitor = (
  name: string,
  activeAt: number,
  answeredAt: number,
  dueAt: number,
): [PresentVisitor, { dueAt: number }] => [
  {
    ...{ shopId: SHOP, visitorId: asVisitorId(name), tabs: 1, arrivedAt: 0 },
    ...{ activeAt, answeredAt },
  },
  { dueAt },
];

const names = (due: readonly [PresentVisitor, unknown][]): string[] =>
  due.map(([{ visitorId }]) => visitorId);

test('who waits for an answer is read first, then who was not looked at for longest', () => {
  const due = [
    visitor('answered, long ago', 10, 20, 1),
    visitor('waits', 30, 20, 9),
    visitor('only came', 0, 0, 2),
    visitor('waits for longer', 5, 0, 8),
  ];
  expect(names(inTurn(due))).toEqual(['waits for longer', 'waits']);
  expect(names(inTurn(due, 1))).toEqual(['waits for longer']);
  const [answered, , came] = due;
  expect(names(inTurn([came, answered].filter((each) => each !== undefined)))).toEqual([
    'answered, long ago',
    'only came',
  ]);
});

test('nobody is left out for good: who was read is due later than who was not', () => {
  const all = Array.from({ length: 1000 }, (_, n) => visitor(String(n), n < 100 ? 1 : 0, 0, 0));
  const read = new Set<string>();
  // Two turns a second, and everyone is due a second after he was read.
  for (let turn = 1; turn <= 20; turn += 1) {
    for (const [{ visitorId }, watched] of inTurn(all.filter(([, { dueAt }]) => dueAt <= turn))) {
      read.add(visitorId);
      watched.dueAt = turn + 2;
    }
  }
  expect(read.size).toBe(1000);
});

test.each([
  ['a visitor who waits', 60_000, false, 1_000],
  ['one who was answered a moment ago', 10_000, true, 1_000],
  ['one who was answered a minute ago', 60_000, true, 5_000],
  ['one who has been quiet for four minutes', 240_000, false, 2_000],
  ['the same, answered', 240_000, true, 5_000],
  ['one who has been quiet for long', 3_600_000, false, 15_000],
  ['the same, answered', 3_600_000, true, 15_000],
])('%s is looked at again after so long', (_, quietMs, isAnswered, intervalMs) => {
  expect(pollIntervalMs(quietMs, 1_000, isAnswered)).toBe(intervalMs);
});
