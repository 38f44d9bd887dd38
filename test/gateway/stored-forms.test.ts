import { expect, test } from '@jest/globals';
import type { Channel } from '../../src/domain/channel.ts';
import { storedFormReaderOf } from '../../src/gateway/stored-forms.ts';
import type { EntryMeta } from '../../src/spool/entry.ts';

const summary = (channel: Channel, head: string, meta: EntryMeta = {}) =>
  storedFormReaderOf({ kind: 'message', channel }).summaryOf(meta, Buffer.from(head));
const ofEvent = (head: string) =>
  storedFormReaderOf({ kind: 'event', channel: 'sms' }).summaryOf({}, Buffer.from(head));

test('an email: names decoded and without their quotes, subject, copies to be found by', () => {
  const head = [
    'From: =?utf-8?q?Anna_M=C3=BCller?= <anna@example.com>',
    'To: "Support, Acme" <support@acme.example>,',
    ' other@acme.example',
    'Cc: boss@example.com',
    'Subject: =?utf-8?b?5rOo5paH?= =?utf-8?b?55Wq5Y+3?=',
    '',
    'Subject: not this',
  ].join('\r\n');
  expect(
    summary('email', head, { envelopeFrom: 'bounce@example.com', envelopeTo: ['hi@a'] }),
  ).toEqual({
    from: 'Anna Müller <anna@example.com>',
    to: 'Support, Acme <support@acme.example>, other@acme.example',
    subject: '注文番号',
    more: expect.stringMatching(/bounce@example\.com hi@a boss@example\.com/),
  });
});

test('an email without the fields, or swept: what the envelope says', () => {
  const meta = { envelopeFrom: 'a@b.example', envelopeTo: ['c@d.example', 'e@f.example'] };
  for (const head of ['', '\r\nbody', 'nonsense']) {
    expect(summary('email', head, meta)).toMatchObject({
      from: 'a@b.example',
      to: 'c@d.example, e@f.example',
      subject: '',
    });
  }
});

test('nothing that hides or turns text is shown', () => {
  const head = `From: x@y.example\r\nSubject: pay \u202egpj.exe\u0007\ttab \u200bnow\r\n\r\n`;
  expect(summary('email', head).subject).toBe('pay gpj.exe tab now');
});

test('an SMS: from the form as it came, else from the meta', () => {
  const form = [
    ['From', 'whatsapp:+15550002222'],
    ['To', '+15550001111'],
    ['ProfileName', 'Ann'],
    ['Body', 'secret'],
  ];
  expect(summary('sms', JSON.stringify(form))).toEqual({
    from: 'Ann whatsapp:+15550002222',
    to: '+15550001111',
    subject: '',
    more: '',
  });
  expect(summary('sms', '', { from: '+1555', to: '+1666' })).toMatchObject({
    from: '+1555',
    to: '+1666',
  });
});

test('a chat: the visitor', () => {
  const meta = { visitorId: 'abc', name: 'Ann', email: 'ann@example.com' };
  expect(summary('web_chat', '{"text":"secret"}', meta)).toEqual({
    from: 'Ann <ann@example.com>',
    to: '',
    subject: '',
    more: 'abc',
  });
  // As the platform's contact is called.
  expect(summary('web_chat', '', { visitorId: 'abcdef' }).from).toBe('Visitor ABCD');
  expect(summary('web_chat', '', {}).from).toBe('');
});

test('a line for a timeline: whom it is about', () => {
  expect(ofEvent(JSON.stringify({ contact: { phone: '+1555' }, name: 'x' })).from).toBe('+1555');
});

test.each(['null', '[]', '[1]', '[[1,2]]', '{"contact":7}', '{', '\u0000', '"x"', '[null]'])(
  'a raw form of %j makes an empty summary, not an error',
  (head) => {
    for (const channel of ['email', 'sms', 'web_chat'] as const) {
      for (const meta of [{}, { from: 7, envelopeTo: 'x', name: [] }]) {
        expect(summary(channel, head, meta)).toMatchObject({ subject: '' });
      }
    }
    expect(ofEvent(head)).toMatchObject({ from: '' });
  },
);

test('texts are bounded', () => {
  const head = `From: ${'a'.repeat(60_000)}\r\nSubject: ${'=?utf-8?q?x?= '.repeat(4000)}\r\n\r\n`;
  const { from, subject } = summary('email', head);
  expect([from.length <= 300, subject.length <= 300]).toEqual([true, true]);
});

test.each([
  ['email', 'message', { agentContact: 'c1' }, 'ann@x.example c1', '', ['ann@x.example']],
  ['sms', 'message', { from: 'whatsapp:+1555' }, 'lane', '', ['whatsapp:+1555']],
  [
    'web_chat',
    'message',
    { visitorId: 'v1', email: 'a@x.example' },
    'l',
    '',
    ['v1', 'a@x.example'],
  ],
  ['web_chat', 'message', { visitorId: 'v1' }, 'l', '', ['v1']],
  ['email', 'event', {}, 'l', '{"contact":{"email":"a@x.example"}}', ['a@x.example']],
  ['sms', 'event', {}, 'l', '{"contact":{"email":null,"phone":"+1555"}}', ['+1555']],
  ['sms', 'event', {}, 'l', '', []],
] as const)('whose a stored %s %s is', (channel, kind, meta, lane, raw, identities) => {
  const entry = { kind, channel, lane, meta, event: raw === '' ? null : Buffer.from(raw) };
  expect(storedFormReaderOf(entry).identitiesIn(entry)).toEqual(identities);
});
