import { describe, expect, test } from '@jest/globals';
import {
  emailDedupKey,
  emailLane,
  idOfRaw,
  remoteIdIfTaken,
} from '../../../src/channels/email/receive.ts';
import { messageIdOf, parseHeaderBlock } from '../../../src/channels/email/header-block.ts';

const head = (...lines: string[]) => parseHeaderBlock(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
const CONTACT = 'support@acme.example';
const HEADERS = [
  'From: Ann <ann@x.example>',
  'To: support@acme.example',
  'Cc: bob@x.example',
  'Date: Mon, 1 Sep 2025 10:00:00 +0000',
  'Subject: A long subject that goes on',
  'Message-ID: <one@x.example>',
];

describe('the dedup key', () => {
  const key = emailDedupKey(CONTACT, head(...HEADERS), 'body');

  test.each<[string, string[]]>([
    ['trace and signatures', ['Received: by y', 'DKIM-Signature: v=1', 'X-Spam: no', ...HEADERS]],
    ['the order of the headers', [...HEADERS].reverse()],
    ['folding', HEADERS.map((line) => line.replace('subject that', 'subject\r\n\tthat'))],
    ['the case of header names', HEADERS.map((line) => line.replace('Subject', 'SUBJECT'))],
  ])('does not depend on %s', (_, lines) => {
    expect(emailDedupKey(CONTACT, head(...lines), 'body')).toBe(key);
  });

  test.each(HEADERS.map((_, index) => index))('depends on header %#', (index) => {
    const changed = HEADERS.map((line, at) => (at === index ? `${line}x` : line));
    expect(emailDedupKey(CONTACT, head(...changed), 'body')).not.toBe(key);
    const without = HEADERS.filter((_, at) => at !== index);
    expect(emailDedupKey(CONTACT, head(...without), 'body')).not.toBe(key);
  });

  test('depends on the inbox and on the body', () => {
    expect(emailDedupKey('sales@acme.example', head(...HEADERS), 'body')).not.toBe(key);
    expect(emailDedupKey(CONTACT, head(...HEADERS), 'other')).not.toBe(key);
  });

  test('keeps the fields apart', () => {
    const one = emailDedupKey(CONTACT, head('Subject: a","b', 'To: c'), 'x');
    const two = emailDedupKey(CONTACT, head('Subject: a', 'Subject: b', 'To: c'), 'x');
    const three = emailDedupKey(CONTACT, head('To: a","b', 'Subject: c'), 'x');
    expect(new Set([one, two, three]).size).toBe(3);
  });
});

test.each<[string, string | undefined]>([
  ['<one@x.example>', '<one@x.example>'],
  ['<one@x.example> (added by relay)', '<one@x.example>'],
  ['<no-at-sign>', '<no-at-sign>'],
  ['one@x.example', undefined],
  ['<one@x.example> <two@x.example>', undefined],
  ['<one@x.example><two@x.example>', undefined],
  ['<one two@x.example>', undefined],
  ['<>', undefined],
  [`<${'a'.repeat(253)}>`, `<${'a'.repeat(253)}>`],
  [`<${'a'.repeat(254)}>`, undefined],
  [`<${'ü'.repeat(130)}>`, undefined],
])('the Message-ID %j is %j', (value, expected) => {
  expect(messageIdOf(head(`Message-ID: ${value}`))).toBe(expected);
});

test('the first of two Message-ID lines counts', () => {
  expect(messageIdOf(head('Message-ID: <a@x>', 'Message-ID: <b@x>'))).toBe('<a@x>');
});

test('a message without an id is known by its hash', () => {
  expect(idOfRaw('abc')).toBe('<abc@sluice>');
});

test('an id that is taken goes on with the start of the dedup key', () => {
  expect(remoteIdIfTaken('<a@x>', '0123456789abcdef')).toBe('<a@x>#0123456789ab');
});

test.each([
  [{ kind: 'from', mailbox: { name: '', address: 'Ann@x.example' } }, 'ann@x.example'],
  [{ kind: 'several' }, 'envelope@x.example'],
  [{ kind: 'none' }, 'envelope@x.example'],
] as const)('the lane of %j starts with %s', (sender, person) => {
  expect(emailLane(sender, 'Envelope@x.example', CONTACT)).toBe(`${person} ${CONTACT}`);
});
