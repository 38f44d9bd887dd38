import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { MessageTable, NewMessage } from '../../../src/local-platform/store/message-table.ts';
import { SHOP } from '../harness.ts';
import { FilledStore } from './filled-store.ts';

const AT = '2026-04-01T08:00:00.000Z';
const MADE: Omit<NewMessage, 'id' | 'content' | 'text' | 'role' | 'inReplyTo'> = {
  ...{ shop: SHOP.shopId, conversationId: 'one', ticketId: 'one', contactId: null, agentId: null },
  ...{ format: 'TEXT', status: 'DELIVERED', remoteId: null, email: null, createdAt: AT, now: AT },
  ...{ unanswered: false, sender: null, agentContact: null },
};

const say = (messages: MessageTable, text: string, more: Partial<NewMessage> = {}) =>
  messages.create({
    ...{ ...MADE, id: randomUUID(), content: text, text, role: 'customer', inReplyTo: null },
    ...more,
  });

const answer = (messages: MessageTable, text: string, inReplyTo: string) =>
  say(messages, text, { role: 'agent', inReplyTo });

test('a customer’s messages are not displaced by later replies: each reply follows its message', () => {
  const { messages } = new FilledStore();
  const questions = Array.from({ length: 30 }, (_, n) => say(messages, `q${n}`));
  for (const { id, text } of questions.slice(0, 25)) answer(messages, text.replace('q', 'a'), id);
  say(messages, 'elsewhere', { conversationId: 'two' });
  const [last] = questions.slice(25);
  if (last === undefined) throw new Error('no question');
  const said = messages.historyBefore(last, 20).map(({ text }) => text);
  expect(said).toEqual(Array.from({ length: 10 }, (_, n) => [`q${15 + n}`, `a${15 + n}`]).flat());
});

test('later messages are not part of the history', () => {
  const { messages } = new FilledStore();
  const first = say(messages, 'one');
  const second = say(messages, 'two');
  say(messages, 'three');
  answer(messages, 'to one', first.id);
  expect(messages.historyBefore(second, 20)).toEqual([
    { role: 'customer', text: 'one' },
    { role: 'agent', text: 'to one' },
  ]);
  expect(messages.historyBefore(first, 20)).toEqual([{ role: 'agent', text: 'to one' }]);
});

test('unanswered messages are listed oldest first, and a later one is recognized', () => {
  const { messages } = new FilledStore();
  const first = say(messages, 'one', { unanswered: true });
  const second = say(messages, 'two', { unanswered: true });
  say(messages, 'elsewhere', { unanswered: true, conversationId: 'two' });
  expect(messages.unanswered('one')).toEqual([first.id, second.id]);
  expect([first, second].map((row) => messages.hasLaterUnanswered(row))).toEqual([true, false]);
  expect(messages.markAnswered(second.id)).toBe(true);
  expect(messages.hasLaterUnanswered(first)).toBe(false);
});
