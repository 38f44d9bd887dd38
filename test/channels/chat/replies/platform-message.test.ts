import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  inOrder,
  isNewestFirst,
  isReply,
  isUnsigned,
  ListDirection,
  shownText,
} from '../../../../src/channels/chat/replies/platform-message.ts';
import { backoffMs, pollIntervalMs } from '../../../../src/channels/chat/replies/schedule.ts';
import type { Message } from '../../../../src/platform-api/resources.ts';
import { aReply, bareMessage } from './platform-messages.ts';

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

const agent_id = 'agent-1';
const user_id = 'user-1';
const VISITOR = '7f3a0000000000000000000000000000';

test.each<[boolean, string, Message]>([
  [true, 'an External message of the agent', aReply()],
  [true, 'one that is still on its way', aReply({ status: 'PENDING' })],
  [true, 'one without a status', aReply({ status: undefined })],
  [true, 'one with a status of tomorrow', aReply({ status: 'SENT' })],
  [true, 'one of a teammate', aReply({ agent_id: null, user_id, role: 'user' })],
  [true, 'one without any author', bareMessage({ type: 'External', text: 'hello' })],
  [true, 'one with another remote id', aReply({ remote_id: 'chat:abc' })],
  [false, 'an Internal one', aReply({ type: 'Internal' })],
  [false, 'one with a type of tomorrow', aReply({ type: 'Draft' })],
  [false, 'a HIDDEN one', aReply({ status: 'HIDDEN' })],
  [false, 'a FAILED one', aReply({ status: 'FAILED' })],
  [false, 'one that says nothing', aReply({ content: ' \n' })],
  [true, 'without a type, one of the agent', aReply({ type: undefined })],
  [false, 'without a type, one that a teammate wrote', aReply({ type: undefined, user_id })],
  [false, 'without a type, one of nobody', aReply({ type: undefined, agent_id: null })],
  [false, 'the visitor’s, by remote id', aReply({ remote_id: `chat:${VISITOR}:1` })],
  [false, 'the customer’s, by role', aReply({ role: 'customer' })],
  [false, 'the contact’s, by role', aReply({ role: 'Contact' })],
  [false, 'the visitor’s, by role', aReply({ role: 'visitor' })],
  [false, 'the user’s, by role', aReply({ role: 'user' })],
  [true, 'the assistant’s', aReply({ role: 'assistant' })],
])('%s: %s', (expected, _case, message) => {
  expect(isReply(message)).toBe(expected);
});

test('is unsigned only when nothing tells who wrote it', () => {
  expect(isUnsigned(bareMessage())).toBe(true);
  expect(isUnsigned(bareMessage({ agent_id }))).toBe(false);
  expect(isUnsigned(bareMessage({ user_id }))).toBe(false);
  expect(isUnsigned(bareMessage({ role: 'agent' }))).toBe(false);
});

describe('what is shown', () => {
  test.each<[string, Partial<Message>, object | undefined]>([
    ['TEXT', { format: 'TEXT', content: 'a', text: 'b' }, { text: 'a', format: 'TEXT' }],
    ['no format', { content: 'a', text: 'b' }, { text: 'a', format: 'TEXT' }],
    ['TEXT without content', { format: 'TEXT', text: 'b' }, { text: 'b', format: 'TEXT' }],
    [
      'MARKDOWN',
      { format: 'MARKDOWN', content: '*a*', text: 'a' },
      { text: '*a*', format: 'MARKDOWN' },
    ],
    [
      'HTML',
      { format: 'HTML', content: '<b>a</b>', text: 'a' },
      { text: '<b>a</b>', format: 'HTML' },
    ],
    [
      'HTML of which nothing is left',
      { format: 'HTML', content: '<script>a</script><p> </p>' },
      undefined,
    ],
    [
      'the same with a text',
      { format: 'HTML', content: '<style>a</style><div>\u200b</div>', text: 'a' },
      { text: 'a', format: 'TEXT' },
    ],
    [
      'HTML of a picture',
      { format: 'HTML', content: '<img src="https://x.test/a.png">' },
      { text: '<img src="https://x.test/a.png">', format: 'HTML' },
    ],
    [
      'HTML with a head',
      { format: 'HTML', content: '<head><title>t</title><body>a' },
      { text: '<head><title>t</title><body>a', format: 'HTML' },
    ],
    ['blanks of another kind', { format: 'TEXT', content: '\u200b\u2800\u3164' }, undefined],
    ['HTML without content', { format: 'HTML', text: 'a' }, { text: 'a', format: 'TEXT' }],
    [
      'RICH_TEXT',
      { format: 'RICH_TEXT', content: '{"ops":[]}', text: 'a' },
      { text: 'a', format: 'TEXT' },
    ],
    ['RICH_TEXT without text', { format: 'RICH_TEXT', content: '{"ops":[]}' }, undefined],
    [
      'a format of tomorrow',
      { format: 'BLOCKS', content: '[]', text: 'a' },
      { text: 'a', format: 'TEXT' },
    ],
    ['nothing', {}, undefined],
  ])('of %s', (_case, fields, shown) => {
    expect(shownText(bareMessage(fields))).toEqual(shown);
  });
});
