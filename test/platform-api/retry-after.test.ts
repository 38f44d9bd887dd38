import { describe, expect, it } from '@jest/globals';
import { parseRetryAfter } from '../../src/platform-api/retry-after.ts';

const NOW = Date.parse('2026-04-01T12:00:00Z');

describe('Retry-After (RFC 9110 §10.2.3)', () => {
  it.each([
    ['seconds', '7', 7000],
    ['seconds with space around', ' 7 ', 7000],
    ['zero', '0', 0],
    ['a fraction', '1.5', 1500],
    ['more than an hour', '86400', 3_600_000],
    ['an IMF-fixdate ahead', 'Wed, 01 Apr 2026 12:00:30 GMT', 30_000],
    ['an RFC 850 date ahead', 'Wednesday, 01-Apr-26 12:00:30 GMT', 30_000],
    ['a date in the past', 'Wed, 01 Apr 2026 11:00:00 GMT', 0],
    ['a date far ahead', 'Wed, 01 Apr 2036 12:00:00 GMT', 3_600_000],
    ['a negative number', '-5', undefined],
    ['a word', 'soon', undefined],
    ['nothing', '', undefined],
    ['no header', undefined, undefined],
    ['digits without end', '9'.repeat(400), undefined],
  ])('%s', (_title, value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });
});
