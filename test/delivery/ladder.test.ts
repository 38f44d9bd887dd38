import { describe, expect, test } from '@jest/globals';
import { type Form, nextForm, without } from '../../src/delivery/compose.ts';
import type { CreateMessageRequest } from '../../src/platform-api/schemas.ts';

const ID = '5b0f9b0e-0000-4000-8000-000000000001';

/** A message with everything that a rung can undo. */
const WHOLE: CreateMessageRequest = {
  contact: { email: 'ann@example.com', phone: '+15550002222', name: 'Ann' },
  conversation: { id: ID, direction: 'inbound', type: 'email', agent_contact: 'shop@x.example' },
  message: {
    content: '**hello**',
    format: 'MARKDOWN',
    remote_id: '<1@x>',
    attachments: [ID],
    email: {
      subject: 'Hi',
      cc: [{ email: 'bob@example.com' }],
      bcc: [{ email: 'eve@example.com' }],
      references: ['<0@x>'],
      in_reply_to: '<0@x>',
    },
  },
};
const BARE: CreateMessageRequest = {
  contact: { phone: '+15550002222' },
  conversation: { direction: 'inbound', type: 'sms' },
  message: { content: 'hello', format: 'TEXT', remote_id: 'SM1' },
};
const from = (email: string): CreateMessageRequest => ({ ...BARE, contact: { email } });

/** All forms, when each leads to the same answer; or each to one that names a further field. */
function climb(request: CreateMessageRequest, named: readonly string[] = [], oneByOne = false) {
  const tried: Form[] = [];
  for (;;) {
    const form = nextForm(request, tried, oneByOne ? named.slice(0, tried.length + 1) : named);
    if (form === undefined) return tried.map((rungs) => rungs.join('+'));
    tried.push(form);
  }
}

describe('what is tried, one after the other', () => {
  test.each<[string, CreateMessageRequest, readonly string[], readonly string[]]>([
    [
      'everything in its order when nothing is named',
      WHOLE,
      [],
      ['attachments_anew', 'conversation', 'plain_text', 'copies', 'references'],
    ],
    ['nothing of a bare text', BARE, [], []],
    [
      'plain text only, of a formatted one',
      { ...BARE, message: { content: '*x*', format: 'MARKDOWN' } },
      [],
      ['plain_text'],
    ],
    [
      'the address when it is named, then with the copies',
      WHOLE,
      ['contact.email'],
      ['address', 'address+copies'],
    ],
    ['the conversation when it is named', WHOLE, ['conversation.id'], ['conversation']],
    [
      'attachments anew before none at all',
      WHOLE,
      ['message.attachments'],
      ['attachments_anew', 'plain_text'],
    ],
    ['plain text for the content', WHOLE, ['message.content'], ['plain_text']],
    ['plain text for the format', WHOLE, ['message.format'], ['plain_text']],
    ['copies for cc', WHOLE, ['message.email.cc'], ['copies']],
    ['copies for bcc', WHOLE, ['message.email.bcc'], ['copies']],
    ['references', WHOLE, ['message.email.references'], ['references']],
    ['references for in_reply_to', WHOLE, ['message.email.in_reply_to'], ['references']],
    [
      'all that is named together, then the addresses alone',
      WHOLE,
      ['message.email.cc', 'message.email.bcc', 'conversation.id', 'contact.email'],
      ['address+conversation+copies', 'address+copies'],
    ],
    [
      'what is named together with each change of the attachments',
      WHOLE,
      ['message.attachments', 'message.email.references'],
      ['attachments_anew+references', 'plain_text+references'],
    ],
    [
      'the copies when they are named, then with a doubtful address',
      { ...WHOLE, contact: { email: 'ann@localhost' } },
      ['message.email.cc'],
      ['copies', 'address+copies'],
    ],
    [
      'both addresses together once each was tried, when one is doubtful and nothing is named',
      { ...WHOLE, contact: { email: 'ann@localhost' } },
      [],
      [
        ...['address', 'attachments_anew', 'conversation', 'plain_text', 'copies'],
        ...['address+copies', 'references'],
      ],
    ],
    [
      'everything when what is named cannot be undone',
      WHOLE,
      ['message.email.subject', 'contact.name'],
      ['attachments_anew', 'conversation', 'plain_text', 'copies', 'references'],
    ],
    [
      'everything when what is named is not there',
      { ...BARE, message: { content: '*x*', format: 'MARKDOWN' } },
      ['message.email.cc', 'message.attachments'],
      ['plain_text'],
    ],
  ])('%s', (_, request, named, expected) => {
    // Attachments that are named and not there lead to the format, which is.
    expect(climb(request, named)).toEqual(expected);
  });

  test('the phone number is never left out, not even when it is named', () => {
    expect(climb(BARE, ['contact.phone'])).toEqual([]);
    expect(climb(WHOLE, ['contact.phone'])).not.toContain('address');
  });

  test('what answers name one after the other adds up', () => {
    const named = ['contact.email', 'message.email.cc', 'conversation.id'];
    expect(climb(WHOLE, named, true)).toEqual([
      ...['address', 'address+copies', 'address+conversation+copies'],
    ]);
  });

  test('at most seven, and none twice', () => {
    const request = { ...WHOLE, contact: { email: 'ann@localhost' } };
    const fields = ['subject', 'cc', 'references'].map((field) => `message.email.${field}`);
    for (const named of [[], [...fields, 'message.content', 'message.attachments']]) {
      const all = climb(request, ['contact.name', ...named], true);
      expect(all.length).toBeLessThanOrEqual(7);
      expect(new Set(all).size).toBe(all.length);
    }
    const seven = climb(request).map((form) => form.split('+')) as Form[];
    expect(nextForm(request, seven, ['message.email.cc', 'conversation.id'])).toBeUndefined();
  });

  test('what an earlier attempt tried is not tried again', () => {
    const tried: Form[] = [['attachments_anew'], ['conversation']];
    expect(nextForm(WHOLE, tried, [])).toEqual(['plain_text']);
    const named = ['conversation.id', 'message.email.cc'];
    expect(nextForm(WHOLE, tried, named)).toEqual(['conversation', 'copies']);
  });
});

describe('an address that is not named', () => {
  test.each([
    ['"ann smith"@example.com', 'a quoted local part'],
    ['ann@localhost', 'a domain without a dot'],
    ['ann@[192.0.2.1]', 'an address literal'],
    ['ånn@example.com', 'characters that need SMTPUTF8'],
    ['ann..smith@example.com', 'two dots'],
    ['ann.@docomo.ne.jp', 'a dot at the end'],
    ['ann@my_host.example', 'a domain that is no host name'],
  ])('%s may be left out: %s', (email) => {
    expect(climb(from(email))).toEqual(['address']);
  });

  test.each([
    'ann@example.com',
    'ann.smith+tag@mail.example.co.uk',
    "o'neil_x=y@example.com",
    'ann@xn--bcher-kva.example',
    'ann@a-b.example',
  ])('%s stays', (email) => {
    expect(climb(from(email))).toEqual([]);
    expect(climb(from(email), ['contact.email'])).toEqual(['address']);
  });
});

describe('each rung undoes one thing, a form all of its rungs', () => {
  test('the address stands in the name, the phone number stays', () => {
    expect(without(['address'], WHOLE)).toEqual({
      ...WHOLE,
      contact: { phone: '+15550002222', name: 'Ann <ann@example.com>' },
    });
    expect(without(['address'], from('ann@localhost')).contact).toEqual({
      name: '<ann@localhost>',
    });
  });

  test('the conversation', () => {
    const { id: _id, ...conversation } = WHOLE.conversation;
    expect(without(['conversation'], WHOLE)).toEqual({ ...WHOLE, conversation });
  });

  test.each([
    ['copies', { subject: 'Hi', references: ['<0@x>'], in_reply_to: '<0@x>' }],
    [
      'references',
      { subject: 'Hi', cc: [{ email: 'bob@example.com' }], bcc: [{ email: 'eve@example.com' }] },
    ],
  ] as const)('%s', (rung, email) => {
    expect(without([rung], WHOLE)).toEqual({ ...WHOLE, message: { ...WHOLE.message, email } });
  });

  test('both addresses', () => {
    const { contact, message } = without(['address', 'copies'], WHOLE);
    expect(contact).toEqual({ phone: '+15550002222', name: 'Ann <ann@example.com>' });
    expect(message).toEqual(without(['copies'], WHOLE).message);
  });

  test('and changes nothing of what it was given', () => {
    const before = structuredClone(WHOLE);
    for (const rung of ['address', 'conversation', 'copies', 'references'] as const)
      without([rung], WHOLE);
    expect(WHOLE).toEqual(before);
  });
});
