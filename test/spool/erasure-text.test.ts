import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readableTexts } from '../../src/spool/erasure-text.ts';

const NAME = 'ann.lee@example.com';
const mail = (header: string, body: string) => Buffer.from(`${header}\r\n\r\n${body}`, 'latin1');
const placesOf = (raw: Uint8Array) => [
  ...new Set(
    [...readableTexts(raw)].filter(({ text }) => text.includes(NAME)).map(({ where }) => where),
  ),
];
const wrapped = (text: string, width: number) =>
  Buffer.from(text)
    .toString('base64')
    .replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n');

test.each([
  ['a folded header', 'Cc: Bob <bob@example.com>,\r\n ann.lee@example.com', 'x', 'header'],
  [
    'an encoded word',
    `Subject: =?utf-8?B?${Buffer.from(NAME).toString('base64')}?=`,
    'x',
    'header',
  ],
  [
    'two encoded words',
    'Subject: =?utf-8?q?ann=2Elee?= =?utf-8?q?=40example=2Ecom?=',
    'x',
    'header',
  ],
  ['a plain body', 'Subject: x', `> ${NAME} wrote:`, 'body'],
  ['a soft line break', 'Subject: x', 'write to ann.lee@exam=\r\nple.com', 'body'],
  ['quoted-printable', 'Subject: x', 'write to ann.lee=40example=2Ecom', 'body'],
  ['base64', 'Subject: x', `--b\r\n\r\n${wrapped(`She is at ${NAME}.`, 76)}\r\n--b--`, 'body'],
])('a name is seen in %s', (_what, header, body, where) => {
  expect(placesOf(mail(header, body))).toEqual([where]);
});

test('a name is seen in base64 wherever it stands and however its lines are broken', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary-ascii', maxLength: 200 }),
      fc.string({ unit: 'binary-ascii', maxLength: 200 }),
      fc.constantFrom(20, 64, 72, 76),
      fc.constantFrom('utf8' as const, 'utf16le' as const),
      (before, after, width, encoding) => {
        const bytes = Buffer.from(`${before}${NAME}${after}`, encoding);
        const lines = bytes.toString('base64').replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n');
        expect(placesOf(mail('Subject: x', `\r\n${lines}\r\n`))).toEqual(['body']);
      },
    ),
  );
});
