import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  PART_MAX_CHARS,
  PARTS_MAX,
  smsAddresses,
  smsParts,
} from '../../../src/local-platform/outbound/sms.ts';

const OURS = '+15550001111';
const THEIRS = '+14155552671';

test.each([
  ['SMS', OURS, THEIRS, OURS, THEIRS],
  ['WhatsApp', `whatsapp:${OURS}`, `whatsapp:${THEIRS}`, `whatsapp:${OURS}`, `whatsapp:${THEIRS}`],
  ['a WhatsApp sender', OURS, `whatsapp:${THEIRS}`, `whatsapp:${OURS}`, `whatsapp:${THEIRS}`],
  ['a WhatsApp inbox', `WhatsApp:${OURS}`, THEIRS, `WhatsApp:${OURS}`, `WhatsApp:${THEIRS}`],
  ['a short code', '12345', THEIRS, '12345', THEIRS],
])('%s keeps its addresses', (_title, from, to, expectedFrom, expectedTo) => {
  expect(smsAddresses(from, to)).toEqual({ from: expectedFrom, to: expectedTo });
});

/** Without halves of characters. */
const whole = (text: string) => Buffer.from(text).toString().replaceAll('\uFFFD', '?');

describe('a long text', () => {
  test.each<[string, string, readonly string[]]>([
    ['that fits stays one', 'Short.', ['Short.']],
    ['without words is none', '  \n ', []],
    ['ends after a sentence', 'One two. Three four. Five.', ['One two. Three four.', 'Five.']],
    [
      'ends after a paragraph first',
      'One two three\n\nfour. Five six',
      ['One two three', 'four. Five six'],
    ],
    [
      'ends after a question in quotes',
      'He said "Is it so?" and went on',
      ['He said "Is it so?"', 'and went on'],
    ],
    ['ends after a word', 'one two three four five six', ['one two three four', 'five six']],
    [
      'is not cut at the dot of an address',
      'see www.acme.example now please',
      ['see www.acme.example', 'now please'],
    ],
    ['without ends is cut', 'abcdefghijklmnopqrstuvwxyz', ['abcdefghijklmnopqrst', 'uvwxyz']],
  ])('%s', (_title, text, expected) => expect(smsParts(text, 20, 5)).toEqual(expected));

  test('is sent in at most five parts, the last with an ellipsis', () => {
    const parts = smsParts('One sentence more\u2026 '.repeat(1000));
    expect(parts).toHaveLength(PARTS_MAX);
    expect(parts.at(-1)).toMatch(/more… …$/);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(PART_MAX_CHARS);
  });

  test('in the alphabet of GSM ends with three dots, which are in it too', () => {
    const parts = smsParts('One sentence more. '.repeat(1000));
    expect(parts.at(-1)).toMatch(/more\. \.\.\.$/);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(PART_MAX_CHARS);
  });

  test('has no too long part, loses only white space, and splits no character', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.constantFrom('. ', '\n\n', ' ', '😀', 'word', '!', '"'), fc.string()),
          {
            maxLength: 40,
          },
        ),
        fc.integer({ min: 8, max: 60 }),
        (pieces, max) => {
          const text = whole(pieces.join(''));
          const parts = smsParts(text, max, 1000);
          const bare = (some: string) => some.replace(/\s/g, '');
          expect(bare(parts.join(''))).toBe(bare(text));
          for (const part of parts) {
            expect(part.length).toBeLessThanOrEqual(max);
            expect(whole(part)).toBe(part);
            expect(part).not.toBe('');
          }
        },
      ),
    );
  });

  test('of a megabyte takes no time', () => {
    expect(smsParts('x'.repeat(1_000_000))).toHaveLength(PARTS_MAX);
  });
});
