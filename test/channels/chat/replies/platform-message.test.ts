import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  inOrder,
  isNewestFirst,
  ListDirection,
} from '../../../../src/channels/chat/replies/platform-message.ts';
import { backoffMs, pollIntervalMs } from '../../../../src/channels/chat/replies/poll-interval.ts';
import { bareMessage } from './platform-messages.ts';

const at = (id: string, second?: number) =>
  bareMessage({
    id,
    created_at: second === undefined ? undefined : new Date(second * 1000).toISOString(),
  });

describe('messages with one time', () => {
  const listed = (ids: string) =>
    Array.from(ids, (id) => ({ ...at(id, id === 'q' ? 1 : 2), conversation_id: 'c' }));
  const order = (direction: ListDirection, ids: string): string =>
    inOrder(direction.oldestFirst(listed(ids)))
      .map(({ id }) => id)
      .join('');

  test('keep the order of the conversation, whichever way the list runs', () => {
    expect(order(new ListDirection(), 'cbaq')).toBe('qabc');
    expect(order(new ListDirection(), 'qabc')).toBe('qabc');
  });

  test('run as the lists before did, when nothing else shows it', () => {
    const direction = new ListDirection();
    expect(order(direction, 'cba')).toBe('cba');
    order(direction, 'aq');
    expect(order(direction, 'cba')).toBe('abc');
    order(direction, 'qa');
    expect(order(direction, 'abc')).toBe('abc');
  });

  test('are told apart by conversation, however the list mixes them', () => {
    const other = { ...at('x', 5), conversation_id: 'd' };
    const [c, b, a, q] = listed('cbaq');
    if (!a || !b || !c || !q) throw new Error('there are four');
    const ordered = inOrder(new ListDirection().oldestFirst([c, other, b, a, q]));
    expect(ordered.map(({ id }) => id).join('')).toBe('qabcx');
  });
});

describe('the order of replies', () => {
  test('is that of their times', () => {
    const ids = inOrder([at('c', 3), at('a', 1), at('b', 2)]).map(({ id }) => id);
    expect(ids).toEqual(['a', 'b', 'c']);
  });

  test('is that of reading where there is no time', () => {
    const messages = [at('a'), at('b'), at('c')];
    expect(inOrder(messages)).toEqual(messages);
  });

  test('leaves a message without a time behind the one before it', () => {
    const ids = inOrder([at('d', 9), at('e'), at('b', 1), at('c')]).map(({ id }) => id);
    expect(ids).toEqual(['b', 'c', 'd', 'e']);
  });

  test('loses nothing and repeats nothing', () => {
    const second = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(second), (seconds) => {
        const messages = seconds.map((value, index) => at(String(index), value));
        const ids = inOrder(messages).map(({ id }) => id);
        expect([...ids].sort()).toEqual(messages.map(({ id }) => id).sort());
      }),
    );
  });
});

test.each([
  ['descending times', [at('a', 3), at('b', 2), at('c', 2)], true],
  ['ascending times', [at('a', 1), at('b', 2)], false],
  ['equal times', [at('a', 1), at('b', 1)], false],
  ['one message', [at('a', 1)], false],
  ['nothing', [], false],
  ['a missing time', [at('a', 3), at('b'), at('c', 1)], false],
  ['mixed times', [at('a', 3), at('b', 1), at('c', 2)], false],
])('a page of %s shows newest first: %#', (_case, page, expected) => {
  expect(isNewestFirst(page)).toBe(expected);
});

test('polling slows down from a second to a quarter of a minute', () => {
  expect([0, 60, 120, 240, 600, 1800, 86_400].map((s) => pollIntervalMs(s * 1000))).toEqual([
    1_000, 1_000, 1_000, 2_000, 5_000, 15_000, 15_000,
  ]);
  expect([1, 2, 3, 6, 100].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 30_000, 30_000]);
});
