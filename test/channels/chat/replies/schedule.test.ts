import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  batchesOf,
  type Depth,
  nextDueAt,
  nextTurn,
  pollIntervalMs,
  type Queue,
  type Watched,
} from '../../../../src/channels/chat/replies/schedule.ts';
import type { PresentVisitor } from '../../../../src/channels/chat/visitors.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';
import type { WatchedConversation } from '../../../../src/spool/chat-store.ts';
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

const conversationsOf = (visitor: string, count: number): WatchedConversation[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ visitorId: asVisitorId(visitor), conversationId: `${visitor}${index}`, usedAt: 0 },
  }));
const ids = (conversations: readonly WatchedConversation[]): string[] =>
  conversations.map(({ conversationId }) => conversationId);
const none = (): boolean => false;

test('conversations of one visitor are in one list, also when they come mixed with others’', () => {
  const [a, b, c] = [conversationsOf('a', 3), conversationsOf('b', 2), conversationsOf('c', 2)];
  const mixed = [a[0], b[0], a[1], c[0], a[2], b[1], c[1]].flatMap((each) => each ?? []);
  const batches = batchesOf(mixed, none, 4);
  expect(batches.map(({ together }) => ids(together))).toEqual([
    ['a0', 'a1', 'a2'],
    ['b0', 'b1', 'c0', 'c1'],
  ]);
});

test('a visitor with more than a list takes has several', () => {
  const batches = batchesOf([...conversationsOf('a', 5), ...conversationsOf('b', 1)], none, 2);
  expect(batches.map(({ together }) => ids(together))).toEqual([
    ['b0'],
    ['a0', 'a1'],
    ['a2', 'a3'],
    ['a4'],
  ]);
});

test('who has a conversation that is read alone is read behind the others', () => {
  const watched = [...conversationsOf('a', 3), ...conversationsOf('b', 1)];
  const batches = batchesOf(watched, ({ conversationId }) => conversationId === 'a1');
  expect(batches.map(({ together, alone }) => [ids(together), ids(alone)])).toEqual([
    [['b0'], []],
    [['a0', 'a2'], ['a1']],
  ]);
});

test('each conversation is asked for once, in lists that are not too long', () =>
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 12 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 10 }),
      fc.nat({ max: 9 }),
      (counts, most, long) => {
        const watched = counts.flatMap((count, index) => conversationsOf(`v${index}-`, count));
        const isLong = ({ conversationId }: WatchedConversation): boolean =>
          conversationId.endsWith(`-${long}`);
        const batches = batchesOf(watched, isLong, most);
        expect(batches.every(({ together }) => together.length <= most)).toBe(true);
        const asked = batches.flatMap(({ together, alone }) => [...together, ...alone]);
        expect(ids(asked).sort()).toEqual(ids(watched).sort());
        expect(ids(batches.flatMap(({ alone }) => alone)).sort()).toEqual(
          ids(watched.filter(isLong)).sort(),
        );
      },
    ),
  ));
