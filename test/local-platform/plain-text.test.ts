import { expect, test } from '@jest/globals';
import { excerptOf, titleOf } from '../../src/local-platform/plain-text.ts';

test.each<[string, string, string, string]>([
  ['the subject', 'Order 7', 'Where is it?', 'Order 7'],
  ['a folded subject', ' Order\r\n\t7 ', '', 'Order 7'],
  ['the first line with something in it', '', '\n \n  Hello\tthere \nWhere is it?', 'Hello there'],
  ['neither', ' ', ' \n\t', '(no text)'],
  ['a long line, cut between words', '', 'word '.repeat(40), `${'word '.repeat(23)}word…`],
  ['one long word', 'x'.repeat(300), '', `${'x'.repeat(119)}…`],
  ['no half of a character', '🙂'.repeat(80), '', `${'🙂'.repeat(59)}…`],
  ['exactly as long as it may be', 'x'.repeat(120), '', 'x'.repeat(120)],
])('a title is %s', (_case, subject, text, expected) => {
  expect(titleOf(subject, text)).toBe(expected);
});

test('an excerpt is the beginning of the text on one line, at most 200 characters', () => {
  expect(excerptOf('Hello,\n\n  where is\tit?\n')).toBe('Hello, where is it?');
  const cut = excerptOf('where is it? '.repeat(100));
  expect(cut.length).toBeLessThanOrEqual(200);
  expect(cut.endsWith('is it?…') || cut.endsWith('is…') || cut.endsWith('where…')).toBe(true);
  expect(excerptOf('x'.repeat(2_000_000))).toBe(`${'x'.repeat(199)}…`);
});
