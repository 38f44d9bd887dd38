import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMessageRequestSchema } from '../../../../src/platform-api/schemas.ts';
import { readHead } from '../../../../src/channels/email/normalize/head/message-head.ts';
import { compileShop } from '../../../../src/channels/email/shop.ts';
import { runCount } from '../../../support/run-count.ts';
import { emailJob, shopSettings } from './jobs.ts';
import { safeFileName } from '../../../../src/channels/email/normalize/parts/attached-files.ts';
import { isForwardSubject } from '../../../../src/channels/email/normalize/head/subjects.ts';
import {
  messageIdHost,
  readCopyRecipients,
  readDisplayName,
  readSentAt,
  readSubject,
  readThreading,
  toNamedAddress,
} from '../../../../src/channels/email/normalize/head/header-values.ts';
import { createAddressMatcher } from '../../../../src/domain/email-addresses.ts';
import { parseHeaderBlock } from '../../../../src/channels/email/header-block.ts';

const block = (lines: string) => parseHeaderBlock(Buffer.from(`${lines}\r\n\r\n`));
const ids = (count: number) => Array.from({ length: count }, (_, index) => `<${index}@x>`);

describe('threading ids', () => {
  const long = `<${'a'.repeat(250)}@x.example>`;
  test.each([
    [
      'the first of In-Reply-To',
      'In-Reply-To: see <a@x> and <b@x>',
      { inReplyTo: '<a@x>', references: [] },
    ],
    ['references in order', 'References: <a@x> <b@x>', { references: ['<a@x>', '<b@x>'] }],
    ['folded in the middle', 'References: <a@x>\r\n\t<b@x>', { references: ['<a@x>', '<b@x>'] }],
    ['with nothing between', 'References: <a@x><b@x>', { references: ['<a@x>', '<b@x>'] }],
    ['each once', 'References: <a@x> <b@x> <a@x>', { references: ['<a@x>', '<b@x>'] }],
    ['none without brackets', 'References: a@x\r\nIn-Reply-To: b@x', { references: [] }],
    ['none with a space in it', 'References: <a @x> <b@x>', { references: ['<b@x>'] }],
    ['none over 255 bytes', `References: ${long} <b@x>`, { references: ['<b@x>'] }],
    [
      'of two header lines',
      'References: <a@x>\r\nReferences: <b@x>',
      { references: ['<a@x>', '<b@x>'] },
    ],
  ])('%s', (_, lines, expected) => {
    expect(readThreading(block(lines))).toEqual(expected);
  });

  test('the first and the last 19 of many', () => {
    const { references } = readThreading(block(`References: ${ids(50).join(' ')}`));
    expect(references).toEqual(['<0@x>', ...ids(50).slice(31)]);
  });

  test('the host of an id', () => {
    expect(messageIdHost('<a@b@Mail.Acme.Example>')).toBe('mail.acme.example');
    expect(messageIdHost('<nothing>')).toBe('');
  });
});

test.each([
  ['Eve', 'Eve'],
  ['eve@x.example', 'eve@x.example'],
  ['ceo@bank.example', undefined],
  ['CEO <ceo@bank.example>', undefined],
  ['=?utf-8?q?ceo=40bank.example?=', undefined],
])('of a sender who calls himself %s, the name is %s', (name, shown) => {
  const read = toNamedAddress({ address: 'eve@x.example', name });
  expect(read).toEqual({ email: 'eve@x.example', ...(shown !== undefined && { name: shown }) });
});

describe('a subject is decoded, on one line', () => {
  test.each([
    ['=?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['=?utf-8?B?R3I=?= =?utf-8?B?w7zDn2U=?=', 'Grüße'],
    ['=?iso-8859-1?Q?Gr=FC=DFe?= an alle', 'Grüße an alle'],
    ['=?utf-8?Q?two=0D=0Alines?=', 'two lines'],
    ['=?utf-8?Q?=E2=80=AEtxt?=', 'txt'],
    ['=?no-such-charset?Q?x?=', 'x'],
    ['=?utf-8?Q?broken', '=?utf-8?Q?broken'],
    ['  spaced \t out  ', 'spaced out'],
    ['', undefined],
  ])('%s', (raw, subject) => {
    expect(readSubject(raw)).toBe(subject);
  });
});

test('a display name has no control or bidi characters and at most 200', () => {
  expect(readDisplayName('=?utf-8?Q?Ann=00=E2=80=AE?= Doe')).toBe('Ann Doe');
  expect(readDisplayName("'Ann Doe'")).toBe('Ann Doe');
  expect(readDisplayName('x'.repeat(500))).toHaveLength(200);
  expect(readDisplayName('   ')).toBeUndefined();
});

describe('copies', () => {
  const own = createAddressMatcher(['support@acme.example', '*@help.acme.example']);
  test.each([
    [
      'Cc, and the others in To',
      'To: support@acme.example, bob@x.example\r\nCc: "C, D" <cd@x.example>',
      [{ email: 'bob@x.example' }, { email: 'cd@x.example', name: 'C, D' }],
    ],
    [
      'a group comes apart',
      'To: All: a@x.example, b@x.example;',
      [{ email: 'a@x.example' }, { email: 'b@x.example' }],
    ],
    ['not ours, tagged or caught', 'Cc: support+a@acme.example, any@help.acme.example', []],
    ['not the sender', 'Cc: Ann@customer.example', []],
    ['each once', 'To: a@x.example\r\nCc: A@x.example', [{ email: 'a@x.example' }]],
    [
      'what is no address is left out',
      'Cc: nobody, <>, a@x.example, undisclosed-recipients:;',
      [{ email: 'a@x.example' }],
    ],
    [
      'odd ones stay',
      'Cc: user.@docomo.example, a..b@x.example',
      [{ email: 'user.@docomo.example' }, { email: 'a..b@x.example' }],
    ],
    ['an internationalized one stays', 'Cc: käthe@x.example', [{ email: 'käthe@x.example' }]],
    [
      'a quoted local part stays, with its space (RFC 5321 §4.1.2)',
      'Cc: "odd name"@x.example, Odd <"a@b"@x.example>',
      [{ email: '"odd name"@x.example' }, { email: '"a@b"@x.example', name: 'Odd' }],
    ],
    [
      'a quoted local part that could leave its header is left out',
      'Cc: "<a b>"@x.example, b@x.example',
      [{ email: 'b@x.example' }],
    ],
  ])('%s', (_, lines, cc) => {
    expect(readCopyRecipients(block(lines), own, 'ann@customer.example')).toEqual({ cc, bcc: [] });
  });

  test('the Bcc header, without whom To and Cc name already', () => {
    const lines = 'Cc: a@x.example\r\nBcc: a@x.example, support@acme.example, B <b@x.example>';
    expect(readCopyRecipients(block(lines), own, 'ann@customer.example')).toEqual({
      cc: [{ email: 'a@x.example' }],
      bcc: [{ email: 'b@x.example', name: 'B' }],
    });
  });
});

/** What copies look like that real clients and forms have written, or that nobody should. */
const copy = fc.oneof(
  fc.constantFrom(
    'Bob <bob@x.example>',
    '"Doe, Ann" <ann@x.example>',
    '=?utf-8?Q?Doe, Ann?= <doe@x.example>',
    'user.@docomo.example',
    'käthe@x.example',
    'Team: a@x.example, b@x.example;',
    'undisclosed-recipients:;',
    '<>',
    '@',
    'bob@',
    '@x.example',
    'bob@x@y.example',
    'bob@[192.0.2.1',
    '"a <b>"@x.example',
    'bob @x.example',
    `${'b'.repeat(400)}@x.example`,
    `b@${'x.'.repeat(200)}example`,
    '(bob@x.example',
    '"bob@x.example',
    'bob@x..example',
    'bob@-x.example\u0000',
    'mailto:bob@x.example',
  ),
  fc.string({ maxLength: 30 }),
);

test('no copy, however odd, keeps a message from the platform', () => {
  const shop = compileShop(shopSettings);
  const property = fc.property(fc.array(copy, { maxLength: 8 }), (copies) => {
    const cc = copies.join(', ').replace(/[\r\n]/g, ' ');
    const head = block(`From: ann@customer.example\r\nCc: ${cc}, last@x.example`);
    const { request } = readHead(head, emailJob(new Uint8Array(), '/nowhere'), shop, []);
    const body = request('Hello.', 'TEXT');
    expect(createMessageRequestSchema.safeParse(body).error).toBeUndefined();
    expect(body.contact).toEqual({ email: 'ann@customer.example' });
  });
  fc.assert(property, { numRuns: runCount(1000) });
});

describe('the time of a message', () => {
  const receivedAt = Date.parse('2026-01-31T12:00:00Z');
  test.each([
    ['Sat, 31 Jan 2026 11:00:00 +0000', '2026-01-31T11:00:00.000Z'],
    ['Sat, 31 Jan 2026 12:30:00 +0100 (CET)', '2026-01-31T11:30:00.000Z'],
    ['Sat, 31 Jan 2026 11:00:00', '2026-01-31T11:00:00.000Z'],
    ['Sat, 31 Jan 2026 11:00:00 GMT', '2026-01-31T11:00:00.000Z'],
    ['Sat, 31 Jan 2026 12:04:59 +0000', '2026-01-31T12:04:59.000Z'],
    ['Sat, 31 Jan 2026 12:05:01 +0000', '2026-01-31T12:00:00.000Z'],
    ['Thu, 01 Jan 2026 12:00:01 +0000', '2026-01-01T12:00:01.000Z'],
    ['Thu, 01 Jan 2026 11:59:59 +0000', '2026-01-31T12:00:00.000Z'],
    ['yesterday', '2026-01-31T12:00:00.000Z'],
    [undefined, '2026-01-31T12:00:00.000Z'],
  ])('%s', (date, expected) => {
    expect(new Date(readSentAt(date, receivedAt)).toISOString()).toBe(expected);
  });
});

describe('a file name', () => {
  const png = { mime: 'image/png', extension: 'png' };
  const text = { mime: 'text/plain' };
  test.each([
    ['report.pdf', png, 'report.pdf'],
    ['../../etc/passwd', png, 'passwd.png'],
    ['C:\\Users\\ann\\photo.png', png, 'photo.png'],
    ['=?utf-8?Q?f=C3=BCr.txt?=', text, 'für.txt'],
    ['txt.exe\u202e\u0000', text, 'txt.exe'],
    ['...', png, 'file.png'],
    [undefined, png, 'file.png'],
    [undefined, text, 'file.txt'],
    [undefined, { mime: 'application/x-nobody-knows' }, 'file.bin'],
    ['a<b>"c".txt', text, 'a_b__c_.txt'],
    ['version 1.2 final', text, 'version 1.2 final.txt'],
  ])('%s', (raw, type, expected) => {
    expect(safeFileName(raw, type, 'file')).toBe(expected);
  });
});

test.each([
  ['Fwd: x', true],
  ['FW: x', true],
  ['WG: x', true],
  ['TR : x', true],
  ['[EXTERNAL] Fwd: x', true],
  ['转发：x', true],
  ['İLT: x', true],
  ['PD: x', true],
  ['Redir.: x', true],
  ['[EXT] [Acme] VL: x', true],
  ['Re: Fwd: x', false],
  ['Forward march', false],
  ['Invoice: x', false],
])('the subject "%s" is that of a forward: %s', (subject, expected) => {
  expect(isForwardSubject(subject)).toBe(expected);
});
