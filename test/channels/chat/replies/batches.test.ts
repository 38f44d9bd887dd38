import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { batchesOf } from '../../../../src/channels/chat/replies/batches.ts';
import type { WatchedConversation } from '../../../../src/spool/chat-store.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';

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
