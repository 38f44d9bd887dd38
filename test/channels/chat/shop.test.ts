import { expect, test } from '@jest/globals';
import { authorOf } from '../../../src/channels/chat/shop.ts';
import type { Author } from '../../../src/channels/chat/events.ts';
import type { ReplyAuthor } from '../../../src/spool/chat-store.ts';

const TEAM = {
  widget: { agent: { name: 'Mia', picture: 'widget/picture/m', kind: 'ai' } },
  people: new Map([
    ['user-1', { name: 'Tom', picture: 'widget/picture/t' }],
    ['agent-2', { name: 'Max' }],
  ]),
} as const;

test.each<[string, ReplyAuthor, Author | undefined]>([
  ['the agent', { agentId: 'agent-1' }, TEAM.widget.agent],
  ['another agent', { agentId: 'AGENT-2' }, { name: 'Max', kind: 'ai' }],
  ['a teammate', { userId: 'USER-1' }, { ...TEAM.people.get('user-1'), kind: 'person' }],
  ['a teammate beside an agent', { agentId: 'agent-1', userId: 'user-2' }, { kind: 'person' }],
  ['nobody whom the platform names', {}, undefined],
])('a reply by %s', (_who, author, expected) => {
  expect(authorOf(author, TEAM)).toEqual(expected);
});

test('without names in the configuration, a reply is an AI agent’s or a person’s', () => {
  expect(authorOf({ agentId: 'agent-1' }, {})).toEqual({ kind: 'ai' });
  expect(authorOf({ userId: 'user-1' }, {})).toEqual({ kind: 'person' });
  const posing = { widget: { agent: { name: 'Ann', kind: 'person' } } } as const;
  expect(authorOf({ agentId: 'agent-1' }, posing)).toEqual({ name: 'Ann', kind: 'person' });
});
