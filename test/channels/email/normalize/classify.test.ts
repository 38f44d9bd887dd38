import { describe, expect, test } from '@jest/globals';
import { classify } from '../../../../src/channels/email/normalize/head/classify.ts';
import type { MailClass } from '../../../../src/channels/email/shop.ts';
import type { ReportPart } from '../../../../src/channels/email/normalize/reports/report-parts.ts';
import { readSubject } from '../../../../src/channels/email/normalize/head/header-values.ts';
import { createAddressMatcher } from '../../../../src/domain/email-addresses.ts';
import { selectSender } from '../../../../src/channels/email/sender.ts';
import { parseHeaderBlock } from '../../../../src/channels/email/header-block.ts';
import { createFormSenders } from '../../../../src/channels/email/known-senders.ts';

const ALL: readonly MailClass[] = ['auto-reply', 'bounce', 'complaint', 'report', 'loop', 'bulk'];
const formSenders = createFormSenders(['forms@market.example']);
const UUID = '0b8f6a52-3c1d-4e7f-9a2b-5d6e7f8a9b0c';

interface Case {
  readonly envelopeFrom?: string;
  readonly remoteAddress?: string;
  readonly suppress?: readonly MailClass[];
  readonly allow?: readonly string[];
  readonly parts?: readonly ReportPart[];
}

function verdict(lines: string, options: Case = {}): string {
  const head = parseHeaderBlock(Buffer.from(`${lines}\r\n\r\n`));
  const own = createAddressMatcher(['support@acme.example', 'first.line@acme.example']);
  const found = classify({
    head,
    sender: selectSender(head, { own, formSenders }),
    subject: readSubject(head.first('subject')),
    parts: options.parts ?? [],
    meta: {
      envelopeFrom: options.envelopeFrom ?? 'ann@x.example',
      remoteAddress: options.remoteAddress ?? '192.0.2.1',
    },
    shop: {
      own,
      replyDomains: new Set(['mail.platform.example']),
      suppress: new Set(options.suppress ?? ALL),
      allowSenders: createAddressMatcher(options.allow ?? []),
      formSenders,
    },
  });
  return found.kind === 'deliver' ? 'deliver' : `${found.kind} ${found.reason.code}`;
}

const from = 'From: ann@x.example\r\n';
const noSender = { envelopeFrom: '' };
const postmaster = 'From: Postmaster <postmaster@x.example>\r\n';
const words = 'This is the mail system at host mx.x.example.\n\n<bob@y.example>: unknown user\n';
const part = (contentType: string, text: string, fileName?: string): ReportPart => ({
  contentType,
  fileName,
  start: Buffer.from(text),
});
const NOTICE = part('text/plain', words);
const FORM = part('text/plain', `Name: Ann\nMessage: ${words}`);
const PASTED = part(
  'text/plain',
  `Hello,\nwhat does this mean?\n\n${'Thank you. '.repeat(80)}\n${words}`,
);
const STATUS = part('message/delivery-status', 'Final-Recipient: rfc822; bob@y.example\n');

describe('what a person writes is delivered', () => {
  test.each([
    ['an ordinary message', `${from}Subject: Hello`],
    ['an answer', `${from}Subject: Re: Hello\r\nIn-Reply-To: <a@b>`],
    ['Auto-Submitted: no', `${from}Auto-Submitted: no`],
    ['a header that says it is no automatic reply', `${from}X-Autoreply: no`],
    ['an answer to an automatic reply', `${from}Subject: Re: Out of office\r\nIn-Reply-To: <a@b>`],
    ['a mail without a readable From', 'Subject: x'],
  ])('%s', (_, lines) => {
    expect(verdict(lines)).toBe('deliver');
  });
});

describe('bounce', () => {
  test.each<[string, string, Case]>([
    [
      'multipart/report; report-type=delivery-status',
      `${from}Content-Type: multipart/report; report-type=delivery-status; boundary=x`,
      {},
    ],
    [
      'the same, folded and quoted',
      `${from}Content-Type: multipart/report; boundary=x;\r\n Report-Type="delivery-status"`,
      {},
    ],
    ['X-Failed-Recipients', `${from}X-Failed-Recipients: a@b.c`, {}],
    ['null MAIL FROM with a bounce subject', `${from}Subject: Undelivered Mail Returned`, noSender],
    ['the same in German', `${from}Subject: Unzustellbar: Ihre Bestellung`, noSender],
    ['From mailer-daemon', 'From: MAILER-DAEMON@x.example', {}],
    ['From the bare name', 'From: MAILER-DAEMON (Mail Delivery System)', {}],
    ['From postmaster with a null MAIL FROM', `${postmaster}Subject: Hello`, noSender],
    ['From postmaster with a bounce subject', `${postmaster}Subject: Returned mail: x`, {}],
    ['From postmaster with the first words', postmaster, { parts: [NOTICE] }],
    ['From postmaster with a status part', postmaster, { parts: [STATUS] }],
    [
      'null MAIL FROM with the first words',
      `${from}Subject: Hello`,
      { ...noSender, parts: [NOTICE] },
    ],
    ['the same by Return-Path', `${from}Return-Path: <>`, { parts: [NOTICE] }],
    ['a daemon by its name', 'From: Mail Delivery System <x9@mx.example>', { parts: [NOTICE] }],
    ['a From without an address', 'From: Mail System <>\r\nSubject: Undeliverable: x', {}],
    [
      'a machine whose text has nothing before the first words',
      'From: no-reply@mx.example',
      { parts: [NOTICE] },
    ],
    [
      'multipart/report without its type',
      `${from}Content-Type: multipart/report; boundary=x`,
      { parts: [STATUS] },
    ],
    ['a delivery status as the whole message', `${from}Content-Type: message/delivery-status`, {}],
    [
      'more certain than the automatic reply that it also looks like',
      `${from}Auto-Submitted: auto-replied\r\nX-Failed-Recipients: a@b.c`,
      {},
    ],
  ])('%s', (_, lines, options) => {
    expect(verdict(lines, options)).toBe('suppressed bounce');
  });

  test.each<[string, string, Case]>([
    ['a bounce subject alone', `${from}Subject: Undeliverable: what does it mean?`, {}],
    ['a null MAIL FROM alone', `${from}Subject: Hello`, noSender],
    ['a person of a similar name', 'From: postmaster-fan@x.example', {}],
    ['a postmaster who is a person', `${postmaster}Subject: Our order 7`, { parts: [PASTED] }],
    ['a person who pastes a bounce', `${from}Subject: What is this?`, { parts: [NOTICE] }],
    [
      'a person who encloses its parts',
      `${from}Subject: What is this?`,
      { parts: [PASTED, STATUS] },
    ],
    ['a parcel', `${from}Subject: Undeliverable parcel`, { ...noSender, parts: [PASTED] }],
    [
      'a form whose visitor pastes a bounce',
      'From: no-reply@forms.example\r\nReply-To: ann@x.example\r\nSubject: Undeliverable: x',
      { ...noSender, parts: [NOTICE] },
    ],
    ['the same without Reply-To', 'From: no-reply@forms.example', { parts: [FORM] }],
    ['an automatic mail', 'From: no-reply@x.example\r\nSubject: Undeliverable: parcel', {}],
  ])('not %s', (_, lines, options) => {
    expect(verdict(lines, options)).toBe('deliver');
  });
});

describe('complaint', () => {
  test.each([
    ['ARF', `${from}Content-Type: multipart/report; report-type=feedback-report; boundary=x`],
    [
      "Microsoft's form",
      'From: <staff@hotmail.com>\r\nSubject: complaint about message from 192.0.2.7',
    ],
  ])('%s', (_, lines) => {
    expect(verdict(lines)).toBe('suppressed complaint');
  });

  const ses = part('text/plain', '{"notificationType":"Complaint","complaint":{}}');

  test("Amazon SES's notification", () => {
    expect(verdict('From: no-reply@sns.x.example', { parts: [ses] })).toBe('suppressed complaint');
  });

  test('not a person who pastes one', () => {
    expect(verdict(from.trimEnd(), { parts: [ses] })).toBe('deliver');
  });

  test('not a person with the same subject', () => {
    const lines = `${from}Subject: complaint about message from 192.0.2.7`;
    expect(verdict(lines)).toBe('deliver');
  });
});

describe('report', () => {
  const name = 'x.example!acme.example!1767571200!1767657599';
  const dmarc = part('application/gzip', '\u001f', `${name}.xml.gz`);
  test.each<[string, string, ReportPart]>([
    ['DMARC', 'From: ann@x.example\r\nSubject: Report Domain: acme.example Submitter: x', dmarc],
    ['DMARC in a zip', 'From: noreply-dmarc@x.example', part('application/zip', '', `${name}.zip`)],
    ['DMARC as XML', 'From: dmarc@x.example', part('text/xml', '', `${name}!7.xml`)],
    ['TLS', 'From: tls-reports@x.example', part('application/tlsrpt+gzip', '')],
    [
      'TLS by its type',
      `${from}Content-Type: multipart/report; report-type="tlsrpt"; boundary=x`,
      part('text/plain', 'x'),
    ],
  ])('%s', (_, lines, attached) => {
    expect(verdict(lines, { parts: [part('text/plain', 'A report.'), attached] })).toBe(
      'suppressed report',
    );
  });

  test.each<[string, string, ReportPart]>([
    ['a person who forwards one', `${from}Subject: Fwd: Report Domain: acme.example`, dmarc],
    ['a person who asks about one', `${from}Subject: What is this?`, dmarc],
    ['another archive', 'From: dmarc@x.example', part('application/zip', '', 'photos.zip')],
    ['the subject alone', `${from}Subject: Report Domain: acme.example`, part('text/plain', '')],
  ])('not %s', (_, lines, attached) => {
    expect(verdict(lines, { parts: [attached] })).toBe('deliver');
  });
});

describe('auto-reply', () => {
  test.each([
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-replied (vacation)',
    'X-Autoreply: yes',
    'X-Autorespond: x',
    'X-Autoresponder: x',
    'X-Autoresponse: x',
    'X-AutoReply-From: x@y.z',
    'X-Mail-Autoreply: x',
    'Precedence: auto_reply',
    'X-Precedence: auto_reply',
    'X-Autogenerated: Reply',
    'Content-Type: multipart/report; report-type=disposition-notification',
  ])('by %s', (lines) => {
    expect(verdict(`${from}${lines}`)).toBe('suppressed auto_reply');
  });

  const subject = 'Subject: Automatic reply: Your order';
  const suppress = 'X-Auto-Response-Suppress: All';
  const answers = 'In-Reply-To: <a@b>';

  test.each<[string, readonly string[], Case]>([
    ['null MAIL FROM and the subject', [subject], noSender],
    ['null MAIL FROM and X-Auto-Response-Suppress', [suppress], noSender],
    ['null MAIL FROM and In-Reply-To', [answers], noSender],
    ['the subject and X-Auto-Response-Suppress', [subject, suppress], {}],
    ['the subject and In-Reply-To', [subject, answers], {}],
  ])('by two signs: %s', (_, lines, options) => {
    expect(verdict(`${from}${lines.join('\r\n')}`, options)).toBe('suppressed auto_reply');
  });

  test.each<[string, readonly string[], Case]>([
    ['null MAIL FROM', [], noSender],
    ['the subject, never', [subject], {}],
    ['X-Auto-Response-Suppress', [suppress], {}],
    ['In-Reply-To', [answers], {}],
    [
      'X-Auto-Response-Suppress on the answer of a person',
      ['Subject: Re: x', suppress, answers],
      {},
    ],
    [
      'a null MAIL FROM that came by another door than SMTP',
      [subject],
      { envelopeFrom: '', remoteAddress: 'http' },
    ],
  ])('not by one: %s', (_, lines, options) => {
    expect(verdict(`${from}${lines.join('\r\n')}`, options)).toBe('deliver');
  });
});

describe('auto-generated: held, not suppressed', () => {
  test.each([
    ['auto-generated', 'Auto-Submitted: auto-generated'],
    ['auto-notified (RFC 5436)', 'Auto-Submitted: auto-notified; owner-email="x@y.z"'],
    ['also as bulk', 'Auto-Submitted: auto-generated\r\nPrecedence: bulk\r\nList-Id: <a.b>'],
  ])('%s', (_, lines) => {
    expect(verdict(`From: pbx@x.example\r\n${lines}`)).toBe('held auto_generated');
  });

  test('not from a sender that the shop allows', () => {
    const lines = 'From: pbx@x.example\r\nAuto-Submitted: auto-generated';
    expect(verdict(lines, { allow: ['pbx@x.example'] })).toBe('deliver');
  });
});

describe('bulk', () => {
  test.each([
    'List-Id: News <news.x.example>',
    'Precedence: bulk',
    'Precedence: list',
    'Precedence: junk',
    'X-Precedence: bulk',
    'List-Unsubscribe: <https://x.example>',
  ])('by %s', (lines) => {
    expect(verdict(`${from}${lines}`)).toBe('suppressed bulk');
  });

  test.each([
    ['List-Unsubscribe on an answer', 'List-Unsubscribe: <https://x>\r\nIn-Reply-To: <a@b>'],
    ['our own group by its List-Id', 'List-Id: <support.acme.example>\r\nPrecedence: list'],
    ['our own group with a dot in its name', 'List-Id: <first.line.acme.example>'],
    [
      'our own group by its List-Post',
      'List-Id: <x.y>\r\nList-Post: <mailto:support@acme.example>\r\nList-Unsubscribe: <https://x>',
    ],
  ])('not %s', (_, lines) => {
    expect(verdict(`${from}${lines}`)).toBe('deliver');
  });
});

describe('loop', () => {
  test.each([
    ['From is ours', 'From: support@acme.example'],
    ['From is ours with a tag', 'From: Support+tag@ACME.example'],
    ['Sender is ours', `${from}Sender: support@acme.example`],
    ['Reply-To is ours too', 'From: support@acme.example\r\nReply-To: support@acme.example'],
    [
      'our own automatic reply comes back',
      'From: support@acme.example\r\nAuto-Submitted: auto-replied',
    ],
    ['the Message-ID is of a host of replyDomains', `${from}Message-ID: <1@mail.platform.example>`],
    [
      "the Message-ID is made like the platform's",
      `${from}Message-ID: <${UUID}@acme.example>\r\nReply-To: ann@x.example`,
    ],
  ])('%s', (_, lines) => {
    expect(verdict(lines)).toBe('suppressed loop');
  });

  test.each([
    ['a contact form', 'From: support@acme.example\r\nReply-To: jane@visitor.example'],
    [
      'a contact form that names the visitor in From',
      'From: jane@visitor.example\r\nSender: support@acme.example\r\nReply-To: jane@visitor.example',
    ],
    [
      'a group of ours that signs as Sender',
      `${from}Sender: support@acme.example\r\nList-Id: <support.acme.example>`,
    ],
    [
      'a colleague, whose ids are of our domain',
      `From: boss@acme.example\r\nMessage-ID: <${UUID}@acme.example>`,
    ],
    ['a form on our web site', `${from}Message-ID: <b7Qx2@acme.example>`],
  ])('not %s', (_, lines) => {
    expect(verdict(lines)).toBe('deliver');
  });
});

const samples: readonly [MailClass, string][] = [
  ['bounce', 'X-Failed-Recipients: a@b.c'],
  ['complaint', 'Content-Type: multipart/report; report-type=feedback-report'],
  ['report', 'Content-Type: multipart/report; report-type=tlsrpt'],
  ['auto-reply', 'Auto-Submitted: auto-replied'],
  ['bulk', 'List-Id: <news.x.example>'],
  ['loop', 'Sender: support@acme.example'],
];

describe("the shop's suppress list", () => {
  test.each(samples)('%s is suppressed only when the list has it', (name, lines) => {
    const others = ALL.filter((each) => each !== name);
    expect(verdict(`${from}${lines}`, { suppress: [name] })).toBe(
      `suppressed ${name.replace('-', '_')}`,
    );
    expect(verdict(`${from}${lines}`, { suppress: others })).toBe('deliver');
  });
});

describe('allowSenders', () => {
  test.each(samples)('overrides %s', (_, lines) => {
    expect(verdict(`${from}${lines}`, { allow: ['ann@x.example'] })).toBe('deliver');
    expect(verdict(`${from}${lines}`, { allow: ['*@x.example'] })).toBe('deliver');
    expect(verdict(`${from}${lines}`, { allow: ['*@y.example'] })).not.toBe('deliver');
  });

  test('names the machine, or the person behind it', () => {
    const machine = 'From: no-reply@news.example\r\nReply-To: ann@x.example\r\nPrecedence: bulk';
    expect(verdict(machine)).toBe('suppressed bulk');
    expect(verdict(machine, { allow: ['no-reply@news.example'] })).toBe('deliver');
    expect(verdict(machine, { allow: ['ann@x.example'] })).toBe('deliver');
  });
});

describe('a form sender, configured or known,', () => {
  const forms = ['forms@market.example', 'mailer@shopify.com'];
  test.each(forms)('%s is no machine and no list: a customer wrote it', (form) => {
    for (const line of ['Auto-Submitted: auto-generated', 'Precedence: bulk', 'List-Id: <a.b>']) {
      expect(verdict(`From: ${form}\r\n${line}`)).toBe('deliver');
      expect(verdict(`From: ${form}\r\nReply-To: ann@x.example\r\n${line}`)).toBe('deliver');
    }
  });

  test.each(forms)('%s is still an automatic answer or a bounce when it says so', (form) => {
    expect(verdict(`From: ${form}\r\nAuto-Submitted: auto-replied`)).toBe('suppressed auto_reply');
    expect(verdict(`From: ${form}\r\nX-Failed-Recipients: a@b.c`)).toBe('suppressed bounce');
  });
});

describe('nobody can tell who wrote: held', () => {
  test.each<[string, string, Case, string]>([
    ['two From lines', 'From: a@x.example\r\nFrom: b@x.example', {}, 'several_from'],
    [
      'two mailboxes in one, also of an allowed sender',
      'From: a@x.example, b@x.example',
      { allow: ['a@x.example'] },
      'several_from',
    ],
    ['no From and no MAIL FROM', 'Subject: x', noSender, 'no_sender'],
  ])('%s', (_, lines, options, reason) => {
    expect(verdict(lines, options)).toBe(`held ${reason}`);
  });
});
