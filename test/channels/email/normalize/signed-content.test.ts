import { describe, expect, test } from '@jest/globals';
import {
  clearSignedText,
  isEncryptedText,
} from '../../../../src/channels/email/normalize/parts/signed-content.ts';

const BEGIN = '-----BEGIN PGP SIGNED MESSAGE-----\r\nHash: SHA256\r\n\r\n';
const END = '-----BEGIN PGP SIGNATURE-----\r\n\r\nxx\r\n-----END PGP SIGNATURE-----';

describe('clear-signed text', () => {
  test.each([
    ['without its armor', `${BEGIN}Text.\r\n${END}`, 'Text.\n'],
    ['dashes unescaped', `${BEGIN}- -- \r\nx\r\n${END}`, '-- \nx\n'],
    [
      'with what stands around it',
      `Before.\n${BEGIN}Text.\r\n${END}\nAfter.`,
      'Before.\nText.\n\nAfter.',
    ],
    ['none without a signature', `${BEGIN}Text.`, undefined],
    ['none when quoted', `> ${BEGIN}Text.\r\n> ${END}`, undefined],
    ['none in plain text', 'Text.', undefined],
  ])('%s', (_, text, expected) => {
    expect(clearSignedText(text)).toBe(expected);
  });
});

test('encrypted text is one that has nothing else in it', () => {
  const armor = '-----BEGIN PGP MESSAGE-----\n\nxx\n-----END PGP MESSAGE-----';
  expect(isEncryptedText(`\n${armor}\n`)).toBe(true);
  expect(isEncryptedText(`See this:\n${armor}`)).toBe(false);
});
