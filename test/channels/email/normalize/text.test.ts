import { describe, expect, test } from '@jest/globals';
import { decodeText } from '../../../../src/channels/email/normalize/body/charset.ts';
import { cleanText } from '../../../../src/runtime/clean-text.ts';
import {
  fitContent,
  MAX_CONTENT_LENGTH,
} from '../../../../src/channels/email/normalize/body/content-limits.ts';
import { joinFlowed } from '../../../../src/channels/email/normalize/body/body-content.ts';

describe('the charset of a text', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1');
  test.each([
    ['declared', latin('Grüße'), 'iso-8859-1', 'Grüße'],
    ['declared, in capitals and quotes', Buffer.from('Grüße'), '"UTF-8"', 'Grüße'],
    ['UTF-8 declared as ASCII', Buffer.from('Grüße'), 'us-ascii', 'Grüße'],
    ['UTF-8 with no declaration', Buffer.from('Grüße €'), undefined, 'Grüße €'],
    ['windows-1252 with no declaration', latin('Grüße \x80'), undefined, 'Grüße €'],
    ['windows-1252 declared as UTF-8', latin('Grüße'), 'utf-8', 'Grüße'],
    [
      'UTF-8 with a broken character',
      Buffer.concat([Buffer.from('注文 “1”'), latin('\x80')]),
      'utf-8',
      '注文 “1”€',
    ],
    ['windows-1252 with a character of UTF-8', latin('Größe äu \xc3\xbc'), 'utf-8', 'Größe äu Ã¼'],
    [
      'UTF-8 declared as Latin-1, where that makes no sense',
      Buffer.from('“Grüße”'),
      'iso-8859-1',
      '“Grüße”',
    ],
    ['ISO-2022-JP with no declaration', latin('\x1b$BCmJ8\x1b(B'), undefined, '注文'],
    ['Shift_JIS', Buffer.from([0x92, 0x8d, 0x95, 0xb6]), 'shift_jis', '注文'],
    ['GB2312', Buffer.from([0xb6, 0xa9, 0xb5, 0xa5]), 'gb2312', '订单'],
    ['KOI8-R', Buffer.from([0xda, 0xc1, 0xcb, 0xc1, 0xda]), 'koi8-r', 'заказ'],
    ['an unknown charset', Buffer.from('Grüße'), 'x-nobody', 'Grüße'],
    ['a charset of old computers', Buffer.from([0x81]), 'cp850', 'ü'],
  ])('%s', (_, bytes, declared, expected) => {
    expect(decodeText(bytes, declared)).toBe(expected);
  });

  test('is found in a meta element of HTML', () => {
    const html = '<html><meta charset="windows-1251"><body>';
    const bytes = Buffer.concat([Buffer.from(html), Buffer.from([0xe7, 0xe0, 0xea, 0xe0, 0xe7])]);
    expect(decodeText(bytes, undefined, { html: true })).toBe(`${html}заказ`);
  });

  test('half a character at a cut is no mistake', () => {
    const bytes = Buffer.from('Größe €').subarray(0, -1);
    expect(decodeText(bytes, undefined, { truncated: true })).toBe('Größe ');
  });
});

describe('invisible characters', () => {
  test.each([
    ['zero-width space', 'a\u200bb', 'ab'],
    ['bidi override', 'a\u202ecba\u202c', 'acba'],
    ['joiner in a Latin word', 'o\u200cr\u200dder', 'order'],
    ['joiner in Persian', 'می\u200cخواهم', 'می\u200cخواهم'],
    ['joiner in Hindi', 'क्\u200dष', 'क्\u200dष'],
    ['family', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
    ['heart with a variation selector', '❤\ufe0f\u200d🔥', '❤\ufe0f\u200d🔥'],
    [
      'flag of Scotland',
      '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
      '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    ],
    ['flag of pirates', '🏴\u200d☠\ufe0f', '🏴\u200d☠\ufe0f'],
    ['flag of the rainbow', '🏳\ufe0f\u200d🌈', '🏳\ufe0f\u200d🌈'],
    ['flag of a country', '🇩🇪', '🇩🇪'],
    ['skin and hair', '👩🏽\u200d🦰', '👩🏽\u200d🦰'],
    ['a kiss', '🧑🏽\u200d❤\ufe0f\u200d💋\u200d🧑🏻', '🧑🏽\u200d❤\ufe0f\u200d💋\u200d🧑🏻'],
    ['a keycap', '1\ufe0f\u20e3', '1\ufe0f\u20e3'],
    ['words after a flag', '🏴a\u{e0067}\u{e007f}', '🏴a'],
    ['tags without a flag', 'a\u{e0069}\u{e0067}b', 'ab'],
    ['variation selectors that carry data', 'a\ufe01\ufe02\ufe03b', 'a\ufe01b'],
    ['marks of direction stay', '\u200eא\u200f', '\u200eא\u200f'],
    ['controls', 'a\u0000b\u0007c\td', 'abc\td'],
    ['musical format characters', 'a\u{1d173}\u{1d17a}b', 'ab'],
    ['marks of Egyptian, shorthand and annotations', 'a\u{13430}\u{1bca0}\ufff9\ufffbb', 'ab'],
    ['soft hyphens and the Arabic letter mark', 'a\u00adb\u061cc', 'abc'],
    [
      'a bit for each zero-width character',
      `x${'\u200b\u200c\u200d\u2060\ufeff'.repeat(9)}y`,
      'xy',
    ],
    ['what stands above a number stays', '\u0600١٢ \u06dd١ \u070fܐ', '\u0600١٢ \u06dd١ \u070fܐ'],
    ['a run of Braille blanks is a gap', `x${'\u2800'.repeat(4)}y`, 'x y'],
    ['three Braille blanks stay', 'x\u2800\u2800\u2800y', 'x\u2800\u2800\u2800y'],
    ['Braille blanks in Braille stay', '⠁\u2800\u2800\u2800\u2800⠃', '⠁\u2800\u2800\u2800\u2800⠃'],
    ['variants in Mongolian stay', 'ᠠ\u180bᠠ\u180f', 'ᠠ\u180bᠠ\u180f'],
    ['half a character', 'a\ud800b', 'a\ufffdb'],
    ['line ends', 'a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
  ])('%s', (_, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });
});

test.each([
  ['joins soft lines', 'one \ntwo\nthree', false, 'one two\nthree'],
  ['deletes the space with DelSp', 'one \ntwo', true, 'onetwo'],
  ['keeps quotes apart', '> a \n> b\nc', false, '> a b\nc'],
  ['keeps depths apart', '>> a \n> b', false, '>> a \n> b'],
  ['leaves the signature alone', 'a \n-- \nAnn', false, 'a \n-- \nAnn'],
  ['takes the protecting space away', ' From here', false, 'From here'],
])('flowed text: %s', (_, text, deleteSpace, expected) => {
  expect(joinFlowed(text, deleteSpace)).toBe(expected);
});

describe('what fits into a request', () => {
  const file = (index: number) => ({
    part: String(index),
    name: `file-${index}.txt`,
    type: 'text/plain',
    size: 1,
    source: { kind: 'bytes' as const, bytes: new Uint8Array([1]) },
  });
  const fit = (text: string, files: number) =>
    fitContent({
      text,
      format: 'TEXT',
      asText: () => text,
      empty: '(no text)',
      files: Array.from({ length: files }, (_, index) => file(index)),
      wholeTextAttached: false,
      maxFiles: 50,
    });

  test('an empty text is never sent', () => {
    expect(fit(' \n', 1).content).toBe('(no text)');
  });

  test('100,000 characters stay, one more goes on in a file', () => {
    expect(fit('x'.repeat(MAX_CONTENT_LENGTH), 0)).toMatchObject({ files: [], moved: false });
    const text = 'line\n'.repeat(30_000);
    const { content, files, moved } = fit(text, 1);
    expect(moved).toBe(true);
    expect(content.length).toBeLessThanOrEqual(MAX_CONTENT_LENGTH);
    expect(content.endsWith('(The text goes on; all of it is attached.)')).toBe(true);
    expect(files.map(({ name, size }) => [name, size])).toEqual([
      ['message.txt', text.length],
      ['file-0.txt', 1],
    ]);
  });
});
