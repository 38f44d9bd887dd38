import { describe, expect, test } from '@jest/globals';
import addressparser from 'nodemailer/lib/addressparser';
import {
  canonicalAddress,
  canonicalDomain,
  matchKey,
  parseAddressList,
} from '../../src/domain/email-addresses.ts';
import { withinProcessorTime } from '../support/processor-time.ts';

describe('an address list', () => {
  test.each<[string, readonly (readonly [string, string])[]]>([
    ['ann@example.com', [['', 'ann@example.com']]],
    ['<ann@example.com>', [['', 'ann@example.com']]],
    ['Ann Lee <Ann@EXAMPLE.com>', [['Ann Lee', 'Ann@example.com']]],
    ['"Lee, Ann" <ann@example.com>', [['Lee, Ann', 'ann@example.com']]],
    ['Lee, Ann <ann@example.com>', [['Lee, Ann', 'ann@example.com']]],
    ['=?utf-8?Q?J=C3=B6rg?= <j@example.com>', [['=?utf-8?Q?J=C3=B6rg?=', 'j@example.com']]],
    [
      'a@b.example, c@d.example',
      [
        ['', 'a@b.example'],
        ['', 'c@d.example'],
      ],
    ],
    [
      'Team: a@b.example, C <c@d.example>;',
      [
        ['', 'a@b.example'],
        ['C', 'c@d.example'],
      ],
    ],
    ['undisclosed-recipients:;', []],
    ['user.@docomo.ne.jp', [['', 'user.@docomo.ne.jp']]],
    ['a..b@example.com', [['', 'a..b@example.com']]],
    ['jörg@münchen.de', [['', 'jörg@xn--mnchen-3ya.de']]],
    ['"a b"@example.com', [['', '"a b"@example.com']]],
    ['nobody, <broken@>, @example.com, ok@example.com', [['', 'ok@example.com']]],
    ['', []],
  ])('%s', (value, expected) => {
    const found = parseAddressList(value).map(({ name, address }) => [name, address]);
    expect(found).toEqual(expected);
  });

  test.each([
    'ann@example.com',
    '<ann@example.com>',
    'Ann <ann@example.com>',
    "Ann O'Lee-Smith Jr. <ann+tag@mail.example.com>",
    '=?utf-8?B?SsO2cmc=?= <j_x@example.com>',
  ])('reads the plain %j as the full grammar does', (value) => {
    expect(parseAddressList(value)).toEqual(
      addressparser(value, { flatten: true }).map(({ name, address }) => ({ name, address })),
    );
  });

  test.each([
    ['colons', 'a:'],
    ['commas', 'a@b.example,'],
    ['quotes', '"'],
    ['angle brackets', '<'],
    ['comments', '('],
    ['at signs', 'a"@'],
    ['words', 'word '],
  ])('0.9 MB of %s is read in a moment, and only its start', async (_, pattern) => {
    const value = pattern.repeat(Math.ceil(900_000 / pattern.length));
    await withinProcessorTime(1000, () => {
      expect(parseAddressList(value).length).toBeLessThanOrEqual(1000);
    });
  });

  test('is cut between two addresses, never inside one', () => {
    const found = parseAddressList('first@example.com, second@example.com', 25);
    expect(found.map(({ address }) => address)).toEqual(['first@example.com']);
  });
});

describe('a canonical address', () => {
  test.each<[string, string | undefined]>([
    ['Ann@Example.COM', 'Ann@example.com'],
    ['ann@example.com.', 'ann@example.com'],
    [' ann@example.com ', 'ann@example.com'],
    ['ann@[192.0.2.1]', 'ann@[192.0.2.1]'],
    ['ann@[IPv6:2001:db8::1]', 'ann@[ipv6:2001:db8::1]'],
    ['ann', undefined],
    ['@example.com', undefined],
    ['ann@', undefined],
    ['ann@exa mple.com', undefined],
    ['ann@example..com', undefined],
    ['a\u0000b@example.com', undefined],
    ['a\u200bb@example.com', undefined],
    ['a@b@example.com', undefined],
    ['"a b"@example.com', '"a b"@example.com'],
    ['"a\r\nb"@example.com', undefined],
    ['"a\\\u0000b"@example.com', undefined],
    [`${'a'.repeat(400)}@example.com`, undefined],
  ])('of %j', (address, expected) => {
    expect(canonicalAddress(address)).toBe(expected);
  });

  test('does not take a number for an IPv4 address', () => {
    expect(canonicalDomain('123')).toBe('123');
  });
});

test.each<[string, string | undefined]>([
  ['Support@ACME.example', 'support@acme.example'],
  ['support+order-7@acme.example', 'support@acme.example'],
  ['a+b+c@acme.example', 'a@acme.example'],
  ['+49@acme.example', '+49@acme.example'],
  ['JÖRG@MÜNCHEN.de', 'jörg@xn--mnchen-3ya.de'],
  ['none', undefined],
])('%s is compared as %s', (address, expected) => {
  expect(matchKey(address)).toBe(expected);
});
