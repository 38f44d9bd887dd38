import { describe, expect, test } from '@jest/globals';
import {
  decodeParameter,
  decodeWords,
} from '../../../../src/channels/email/normalize/head/encoded-words.ts';
import { parseHeaderBlock } from '../../../../src/channels/email/header-block.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

const word = (charset: string, bytes: Uint8Array) =>
  `=?${charset}?B?${Buffer.from(bytes).toString('base64')}?=`;

describe('encoded words', () => {
  test.each([
    ['in both encodings', '=?utf-8?q?Gr=C3=BC?= =?utf-8?b?w59l?=', 'Grüße'],
    ['with text between', '=?utf-8?Q?a?= b =?utf-8?Q?c?=', 'a b c'],
    ['of two charsets', '=?iso-8859-1?Q?=FC?= =?utf-8?Q?=C3=9F?=', 'üß'],
    ['that split a character', '=?utf-8?Q?=C3?=\t=?utf-8?Q?=BC?=', 'ü'],
    ['with a language (RFC 2231 §5)', '=?utf-8*de?Q?=C3=BC?=', 'ü'],
    ['with spaces and question marks', '=?utf-8?Q?Who? You? ?= x', 'Who? You?  x'],
    ['with characters beyond ASCII', '=?iso-8859-1?Q?=FCß?=', 'üß'],
    ['B that is Q', '=?utf-8?B?=C3=BC_x?=', 'ü x'],
    ['Q that is B', '=?utf-8?Q?w7zDnw==?=', 'üß'],
    ['Q whose text could be B', '=?utf-8?Q?Lamp?=', 'Lamp'],
    ['of a wrong charset', '=?utf-8?Q?=FC?=', 'ü'],
    ['of the C1 controls of windows-1252', '=?iso-8859-1?Q?=80?=', '€'],
    ['in UTF-7', '=?unicode-1-1-utf-7?Q?+APw-?=', 'ü'],
    ['without an end', '=?utf-8?Q?=C3=BC', '=?utf-8?Q?=C3=BC'],
    ['in ISO-2022-JP that say ASCII', word('us-ascii', Buffer.from('\x1b$B%5\x1b(B')), 'サ'],
    [
      'in Shift_JIS that say ISO-2022-JP',
      word('iso-2022-jp', Buffer.from('836583588367', 'hex')),
      'テスト',
    ],
  ])('%s', (_, raw, text) => {
    expect(decodeWords(raw)).toBe(text);
  });

  test('of any length take no time', async () => {
    await withinProcessorTime(1000, () => {
      for (const unit of ['=?a?q?', '=?utf-8?b?', '?=', '=?utf-8?q?=', '=?a?b?a?= ']) {
        decodeWords(unit.repeat(50_000));
        decodeParameter(unit.repeat(50_000));
        parseHeaderBlock(Buffer.from(`Subject: ${unit.repeat(20_000)}\xe9\r\n\r\n`, 'latin1'));
      }
    });
  });
});

test.each([
  ["utf-8'en'na%C3%AFve.txt", 'naïve.txt'],
  ["iso-8859-1''gr%FCn.txt", 'grün.txt'],
  ["it's 'fine' 100%.txt", "it's 'fine' 100%.txt"],
  ['=?utf-8?Q?gr=C3=BCn?=.txt', 'grün.txt'],
])('the parameter %s', (raw, text) => {
  expect(decodeParameter(raw)).toBe(text);
});

describe('raw header fields', () => {
  const subject = (bytes: Buffer, lines = '', charset?: string) => {
    const block = Buffer.concat([
      Buffer.from('Subject: '),
      bytes,
      Buffer.from(`\r\n${lines}\r\n\r\n`),
    ]);
    return parseHeaderBlock(block, charset).first('subject');
  };
  const gbk = Buffer.from('b6a9b5a5', 'hex');

  test.each([
    ['UTF-8', Buffer.from('Grüße'), 'Content-Type: text/plain; charset=gbk', 'Grüße'],
    ['the charset of the block', gbk, 'Content-Type: text/plain;\r\n charset="GBK"', '订单'],
    ['windows-1252', Buffer.from('5 \x80', 'latin1'), 'X: y', '5 €'],
    ['ISO-2022-JP', Buffer.from('\x1b$B%5\x1b(B'), 'X: y', 'サ'],
  ])('in %s', (_, bytes, lines, text) => {
    expect(subject(bytes, lines)).toBe(text);
  });

  test('in the charset of the body, which its parts declare', () => {
    expect(subject(gbk, 'Content-Type: multipart/mixed; boundary=x', 'gb2312')).toBe('订单');
  });
});
