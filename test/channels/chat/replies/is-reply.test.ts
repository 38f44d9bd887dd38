import { describe, expect, test } from '@jest/globals';
import type { Message } from '../../../../src/platform-api/resources.ts';
import { isReply, isUnsigned, shownText } from '../../../../src/channels/chat/replies/is-reply.ts';
import { aReply, bareMessage } from './platform-messages.ts';

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
