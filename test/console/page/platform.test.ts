import { expect, test } from '@jest/globals';
import { payloadFields, submittedText } from '../../../src/console/page/message/payload-fields.ts';
import {
  cursorOf,
  personFilter,
  readPlace,
  writePlace,
} from '../../../src/console/page/platform/addresses.ts';
import type { Message } from '../../../src/console/page/platform/resources.ts';
import { transcript } from '../../../src/console/page/platform/transcript.ts';

const MESSAGE: Message = {
  id: '1',
  conversation_id: 'c',
  agent_id: null,
  user_id: null,
  role: 'customer',
  updated_at: '2026-05-06T10:00:00Z',
};

test('a place is found again by its address', () => {
  const place = {
    shop: 'acme & sons',
    view: 'tickets',
    id: '',
    filters: { priority: '2', created_at__range: 'relative:-7d,' },
  } as const;
  const address = writePlace(place);
  expect(readPlace(address.slice(address.indexOf('?')))).toEqual(place);
});

test('what an address has that no view knows is left out', () => {
  expect(readPlace('?view=secrets&cursor=x&email=a@b.c')).toEqual({
    shop: '',
    view: 'tickets',
    id: '',
    filters: {},
  });
});

test.each([
  ['https://p.example/v2026-04/tickets/?limit=50&cursor=a%2Bb%3D', 'a+b='],
  ['/tickets/?limit=50', undefined],
  [null, undefined],
])('the cursor of %j', (next, cursor) => {
  expect(cursorOf(next)).toBe(cursor);
});

test.each([
  ['Ann@Example.com', { email: 'ann@example.com' }],
  ['+1 (555) 010-6161', { phone: '+15550106161' }],
  ['', {}],
])('%j is looked for as %j', (text, filter) => {
  expect(personFilter(text)).toEqual(filter);
});

test('a conversation is told in the order in which it was written, each message once', () => {
  const turns = transcript([
    { ...MESSAGE, id: '3', created_at: '2026-05-06T10:03:00Z', text: 'third' },
    { ...MESSAGE, id: '1', created_at: '2026-05-06T10:01:00Z', content: 'first' },
    { ...MESSAGE, id: '1', created_at: '2026-05-06T10:01:00Z', content: 'first' },
  ]);
  expect(turns.map(({ text }) => text)).toEqual(['first', 'third']);
});

test.each<[Partial<Message>, string, string]>([
  [{}, 'customer', 'Customer'],
  [{ role: 'agent', agent_id: 'a' }, 'team', 'AI agent'],
  [{ role: 'user', user_id: 'u' }, 'team', 'Teammate'],
  [{ role: null, agent_id: 'a' }, 'team', 'AI agent'],
  [{ role: null }, 'customer', 'Customer'],
  [{ role: 'agent', type: 'Internal' }, 'internal', 'AI agent'],
])('%j is said by the %s', (change, side, speaker) => {
  expect(transcript([{ ...MESSAGE, ...change }])).toMatchObject([{ side, speaker }]);
});

test('attachments are told by name, whatever a platform answers', () => {
  const attachments = ['id-1', { original_name: 'a.png' }, { name: 'b.png' }, {}, null, 7];
  expect(transcript([{ ...MESSAGE, attachments }])[0]?.attachments).toEqual([
    'id-1',
    'a.png',
    'b.png',
    'attachment',
    'attachment',
    'attachment',
  ]);
  expect(transcript([{ ...MESSAGE, attachments: 'none' }])[0]?.attachments).toEqual([]);
});

test('the fields of a request are those that have something in them', () => {
  const payload = {
    contact: { email: 'ann@example.com', phone: null },
    message: { content: 'two\nlines', attachments: [], references: ['<a>', '<b>'] },
    cc: [{ email: 'x@example.com' }, { email: 'y@example.com' }],
  };
  expect(payloadFields(payload)).toEqual([
    { name: 'contact.email', value: 'ann@example.com', isText: false },
    { name: 'message.content', value: 'two\nlines', isText: true },
    { name: 'message.references', value: '<a>\n<b>', isText: true },
    { name: 'cc[0].email', value: 'x@example.com', isText: false },
    { name: 'cc[1].email', value: 'y@example.com', isText: false },
  ]);
  expect(submittedText(payload)).toBe('two\nlines');
  expect(submittedText('no object')).toBe('');
  expect(payloadFields(undefined)).toEqual([]);
});
