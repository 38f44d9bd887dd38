import { describe, expect, it } from '@jest/globals';
import { parseRetryAfter } from '../../src/runtime/retry-after.ts';

const NOW = Date.parse('2026-04-01T12:00:00Z');

describe('Retry-After (RFC 9110 §10.2.3)', () => {
  it.each([
    ['seconds', '7', 7000],
    ['seconds with space around', ' 7 ', 7000],
    ['zero', '0', 0],
    ['a fraction', '5.5', 5500],
    ['more than an hour', '86400', undefined],
    ['an IMF-fixdate ahead', 'Wed, 01 Apr 2026 12:00:30 GMT', 30_000],
    ['an RFC 850 date ahead', 'Wednesday, 01-Apr-26 12:00:30 GMT', 30_000],
    ['a date in the past', 'Wed, 01 Apr 2026 11:00:00 GMT', undefined],
    ['a date far ahead', 'Wed, 01 Apr 2036 12:00:00 GMT', undefined],
    ['a negative number', '-5', undefined],
    ['an exponent', '1e3', undefined],
    ['hexadecimal', '0x10', undefined],
    ['two numbers', '5, 5', undefined],
    ['half a fraction', '5.', undefined],
    ['a date that is none', 'Foo, 99 Bar 2026 25:00:00 GMT', undefined],
    ['a word', 'soon', undefined],
    ['nothing', '', undefined],
    ['no header', undefined, undefined],
    ['no header, as fetch says it', null, undefined],
    ['an hour', '3600', 3_600_000],
    ['16 digits', '1234567890123456', undefined],
    ['18 digits', '9'.repeat(18), undefined],
    ['digits without end', '9'.repeat(400), undefined],
    ['18 digits that say five', '5'.padStart(18, '0'), 5000],
  ])('%s', (_title, value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });
});
