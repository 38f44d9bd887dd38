import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../../../src/local-platform/api-error.ts';
import { createdAtRange } from '../../../src/local-platform/store/ticket-table.ts';

const NOW = Date.parse('2026-04-30T12:00:00Z');

describe('created_at__range (API §8)', () => {
  it.each([
    ['relative:-7d,', '2026-04-23T12:00:00.000Z', '2026-04-30T12:00:00.000Z'],
    ['relative:-30d,', '2026-03-31T12:00:00.000Z', '2026-04-30T12:00:00.000Z'],
    ['relative:-90m,', '2026-04-30T10:30:00.000Z', '2026-04-30T12:00:00.000Z'],
    [
      '2026-04-01T00:00:00Z,2026-04-02T00:00:00+02:00',
      '2026-04-01T00:00:00.000Z',
      '2026-04-01T22:00:00.000Z',
    ],
    [
      '2026-04-01T00:00:00Z, 2026-05-01T00:00:00Z',
      '2026-04-01T00:00:00.000Z',
      '2026-05-01T00:00:00.000Z',
    ],
  ])('%s', (text, from, to) => {
    expect(createdAtRange(text, NOW)).toEqual({ from, to });
  });

  it.each([
    'relative:-31d,',
    'relative:-7d',
    'relative:-7d,2026-04-30T12:00:00Z',
    'relative:7d,',
    'relative:-7y,',
    '2026-04-01T00:00:00Z,2026-05-01T00:00:01Z',
    '2026-04-02T00:00:00Z,2026-04-01T00:00:00Z',
    '2026-04-01,2026-04-02',
    '2026-04-01T00:00:00Z,',
    ',',
    '',
    'a,b,c',
  ])('refuses "%s"', (text) => {
    expect(() => createdAtRange(text, NOW)).toThrow(ApiError);
  });
});
