import { expect, test } from '@jest/globals';
import type { PresentVisitor } from '../../../../src/channels/chat/presence.ts';
import { pollIntervalMs } from '../../../../src/channels/chat/replies/poll-interval.ts';
import {
  type Depth,
  nextDueAt,
  nextTurn,
  type Queue,
  type Watched,
} from '../../../../src/channels/chat/replies/schedule.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';
import { SHOP } from '../../../support/entries.ts';

function watched(
  name: string,
  { activeAt = 0, answeredAt = 0, ...more }: Partial<PresentVisitor & Watched>,
): [PresentVisitor, Watched] {
  const { dueAt = 0, returning = false, backAt = 1_000, failures = 0 } = more;
  return [
    {
      ...{ shopId: SHOP, visitorId: asVisitorId(name), tabs: 1, arrivedAt: 0 },
      ...{ activeAt, answeredAt },
    },
    { dueAt, returning, backAt, failures },
  ];
}

function turn(
  queue: Queue,
  all: [PresentVisitor, Watched][],
  now: number,
  { last, most }: { last?: Depth; most?: number } = {},
) {
  const { depth, visitors } = nextTurn(queue, all, now, last, most) ?? {};
  return [depth, ...(visitors ?? []).map(({ visitorId }) => visitorId)];
}

const ALL = [
  watched('answered, long ago', { activeAt: 10, answeredAt: 20, dueAt: 1 }),
  watched('waits', { activeAt: 30, answeredAt: 20, dueAt: 9 }),
  watched('only came', { dueAt: 2 }),
  watched('waits for longer', { activeAt: 5, dueAt: 8 }),
  watched('not due', { dueAt: 11 }),
];

test('those who wait for an answer are a queue of their own, the longest due first', () => {
  expect(turn('waiting', ALL, 10)).toEqual(['known', 'waits for longer', 'waits']);
  expect(turn('waiting', ALL, 10, { most: 1 })).toEqual(['known', 'waits for longer']);
  expect(turn('others', ALL, 10)).toEqual(['known', 'answered, long ago', 'only came']);
  expect(turn('waiting', ALL, 7)).toEqual([undefined]);
});

test('who returns is read to the end, before the others, and not twice', () => {
  const all = [...ALL, watched('returns', { activeAt: 5, returning: true, dueAt: 10 })];
  expect(turn('others', all, 10)).toEqual(['end', 'returns']);
  // On a busy site somebody always returns.
  const [depth] = turn('others', all, 10, { last: 'end' });
  expect(depth).toBe('known');
  expect(turn('others', all.slice(-1), 10, { last: 'end' })).toEqual(['end', 'returns']);
  expect(turn('waiting', all, 10)).toEqual(['known', 'waits for longer', 'waits']);
});

test('a look further back is due in its turn, for those who wait as well', () => {
  const all = [...ALL, watched('back', { activeAt: 5, backAt: 0 })];
  expect(turn('others', all, 10)).toEqual(['back', 'back']);
  expect(turn('waiting', all, 10)).toEqual(['known', 'back', 'waits for longer', 'waits']);
});

test('the next time is the earliest of the queue', () => {
  expect(nextDueAt('waiting', ALL)).toBe(8);
  expect(nextDueAt('others', ALL)).toBe(1);
  expect(nextDueAt('others', [watched('waits', { activeAt: 5, backAt: 40 })])).toBe(40);
  expect(nextDueAt('waiting', [watched('only came', {})])).toBeUndefined();
});

test('nobody is left out for good: who was read is due later than who was not', () => {
  const all = Array.from({ length: 1000 }, (_, n) => watched(String(n), {}));
  const read = new Set<string>();
  // A turn at each moment, and everyone is due two moments after he was read.
  for (let now = 1; now <= 20; now += 1) {
    for (const visitor of nextTurn('others', all, now)?.visitors ?? []) {
      read.add(visitor.visitorId);
      const entry = all.find(([each]) => each === visitor);
      if (entry !== undefined) entry[1].dueAt = now + 2;
    }
  }
  expect(read.size).toBe(1000);
});

test.each([
  ['a visitor who waits', 60_000, false, 1_000],
  ['one who was answered a moment ago', 10_000, true, 1_000],
  ['one who was answered a minute ago', 60_000, true, 1_000],
  ['one who was answered before that', 61_000, true, 5_000],
  ['one who has been quiet for four minutes', 240_000, false, 2_000],
  ['the same, answered', 240_000, true, 5_000],
  ['one who has been quiet for long', 3_600_000, false, 15_000],
  ['the same, answered', 3_600_000, true, 15_000],
])('%s is looked at again after so long', (_, quietMs, isAnswered, intervalMs) => {
  expect(pollIntervalMs(quietMs, 1_000, isAnswered)).toBe(intervalMs);
});
