import { describe, expect, test } from '@jest/globals';
import {
  emailRefusal,
  remoteIdOf,
  threadOf,
} from '../../../src/local-platform/outbound/address-reply.ts';
import type { ConversationRow, MessageRow } from '../../../src/local-platform/store/rows.ts';
import { Store } from '../../../src/local-platform/store/store.ts';
import { ends } from '../../support/ends.ts';
import { newFolder, OTHER, SHOP } from '../harness.ts';

interface Question {
  readonly remoteId?: string | null;
  readonly email?: object | null;
  readonly title?: string | null;
}

const thread = ({ remoteId = '<q@example.com>', email = {}, title = null }: Question) =>
  threadOf(
    // Nothing else of the rows is read.
    { remote_id: remoteId, email: email && JSON.stringify(email) } as MessageRow,
    { title },
    '<reply@acme.example>',
  );

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => `<m${from + n}@example.com>`);

describe('In-Reply-To and References', () => {
  test.each<[string, Question, string | undefined, readonly string[]]>([
    ['a first mail', {}, '<q@example.com>', ['<q@example.com>']],
    [
      'a mail within a thread',
      { email: { references: ['<a@x>', '<b@x>'], in_reply_to: '<b@x>' } },
      '<q@example.com>',
      ['<a@x>', '<b@x>', '<q@example.com>'],
    ],
    [
      'a mail with In-Reply-To alone',
      { email: { in_reply_to: '<a@x>' } },
      '<q@example.com>',
      ['<a@x>', '<q@example.com>'],
    ],
    [
      'a mail that names itself',
      { email: { references: ['<a@x>', '<q@example.com>'] } },
      '<q@example.com>',
      ['<a@x>', '<q@example.com>'],
    ],
    [
      'a message-id with a mark of its own behind it',
      { remoteId: '<q@example.com>#0123456789ab' },
      '<q@example.com>',
      ['<q@example.com>'],
    ],
    ['an id that is none', { remoteId: 'ticket 7' }, undefined, []],
    ['no id at all', { remoteId: null, email: null }, undefined, []],
    [
      'ids that are none among those that are',
      { email: { references: ['none', '<a@x>\r\nBcc: all@example.com', '<b x@y>', '<c@x>'] } },
      '<q@example.com>',
      ['<a@x>', '<c@x>', '<q@example.com>'],
    ],
  ])('of %s', (_title, question, inReplyTo, references) => {
    expect(thread(question)).toMatchObject({ messageId: '<reply@acme.example>', references });
    expect(thread(question).inReplyTo).toBe(inReplyTo);
  });

  test('of a long thread: the first one and the last ones', () => {
    const { references } = thread({ email: { references: ids(1, 100) } });
    expect(references).toEqual(['<m1@example.com>', ...ids(83, 100), '<q@example.com>']);
  });

  test('stay within a header line that servers take (RFC 5322 §2.1.1: folded at 998)', () => {
    const long = ids(1, 100).map((id) => id.replace('@', `${'x'.repeat(240 - id.length)}@`));
    const { references } = thread({ email: { references: long } });
    expect(references.join(' ').length).toBeLessThan(6000);
  });
});

describe('Subject', () => {
  test.each<[string, Question, string]>([
    ['of a question', { email: { subject: 'Where is it?' } }, 'Re: Where is it?'],
    ['of an answer', { email: { subject: 'RE: Where is it?' } }, 'RE: Where is it?'],
    ['on several lines', { email: { subject: 'One\r\n two\tthree' } }, 'Re: One two three'],
    ['with control characters', { email: { subject: 'One\u0000two\u0007' } }, 'Re: One two'],
    ['of the conversation', { title: 'Shoes' }, 'Re: Shoes'],
    ['when there is none', {}, 'Re: your message'],
    ['that is blank', { email: { subject: '  ' } }, 'Re: your message'],
  ])('%s', (_title, question, expected) => expect(thread(question).subject).toBe(expected));

  test('that is endless is cut, between two characters', () => {
    const { subject } = thread({ email: { subject: '😀'.repeat(5000) } });
    expect(subject.length).toBeLessThan(260);
    expect(subject).toMatch(/^Re: (?:😀)+…$/u);
  });
});

test.each([
  ['support@acme.example', 'acme.example'],
  ['Support@Help.Acme.example', 'help.acme.example'],
  ['a@b@c.example', 'c.example'],
  ['support@bücher.example', 'xn--bcher-kva.example'],
  ['nobody', 'localhost'],
  [null, 'localhost'],
])('a reply from %s has the domain %s in its Message-ID', (address, expected) => {
  // Nothing else of the conversation is read.
  const conversation = { type: 'email', agent_contact: address } as ConversationRow;
  expect(remoteIdOf('7', conversation, undefined)).toBe(`<7@${expected}>`);
  expect(remoteIdOf('7', { ...conversation, type: 'sms' }, undefined)).toBeNull();
});

function refusalOf(from: string | undefined, to: string | undefined): string | undefined {
  const store = new Store(newFolder());
  ends(() => store.close());
  for (const address of ['support@bücher.example', '+1 (415) 555-0100']) {
    store.conversations.addAgentContact(SHOP.shopId, address);
  }
  store.conversations.addAgentContact(OTHER.shopId, 'other@acme.example');
  const refusal = emailRefusal(store, { shop: SHOP.shopId, from, to });
  expect(refusal?.kind ?? 'permanent').toBe('permanent');
  return refusal && (refusal.code ?? refusal.message);
}

test.each<[string, string, string | undefined]>([
  ['an address', 'ann@example.com', undefined],
  ['an address with quotes', '"Ann, Lee"@example.com', undefined],
  ['an address that no strict pattern takes', 'user.@docomo.ne.jp', undefined],
  ["another shop's address", 'other@acme.example', undefined],
  ['two addresses', 'ann@example.com,eve@evil.example', 'not_one_address'],
  ['our own and another', 'support@bücher.example;eve@evil.example', 'not_one_address'],
  ['a group', 'team:eve@evil.example;', 'not_one_address'],
  ['a comment', '(c)eve@evil.example', 'not_one_address'],
  ['a machine', 'no-reply@example.com', 'machine'],
  ['our own address', 'Support@BÜCHER.example', 'own_address'],
  ['our own address in ASCII', 'support@xn--bcher-kva.example', 'own_address'],
  ['our own address with what nobody sees', 'support@büch\u00ader.example', 'own_address'],
])('a reply to %s', (_title, to, refused) => {
  expect(refusalOf('support@bücher.example', to)).toBe(refused);
});

test.each<[string, string | undefined, string]>([
  ['nowhere', undefined, 'an address is missing'],
  ['what is no address', 'not an address', 'not_one_address'],
  ['two lines', 'support@acme.example\r\nBcc: eve@evil.example', 'not_one_address'],
])('a reply from %s', (_title, from, refused) => {
  expect(refusalOf(from, 'ann@example.com')).toBe(refused);
});
