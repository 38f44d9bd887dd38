import { describe, expect, test } from '@jest/globals';
import { newVisitorId, VisitorTokens } from '../../../src/channels/chat/recognition.ts';

const OLD = { id: 'old', secret: 'an old secret of sixteen bytes' };
const NEW = { id: 'new', secret: 'a new secret of sixteen bytes.' };
const NOW = Date.UTC(2026, 0, 1);
const YEAR = 365 * 24 * 3600 * 1000;
const bearer = { widgetKey: 'démo.key', visitorId: newVisitorId(), verified: false, logouts: 0 };
const tokensAt = (now: number, keys = [OLD]) => new VisitorTokens(keys, () => now);

describe('a visitor token', () => {
  const token = tokensAt(NOW).mint(bearer);

  test('says who bears it', () => {
    expect(tokensAt(NOW).verify(token)).toEqual(bearer);
    expect(bearer.visitorId).toMatch(/^[0-9a-f]{32}$/);
  });

  test('lasts a year', () => {
    expect(tokensAt(NOW + YEAR - 2000).verify(token)).toEqual(bearer);
    expect(tokensAt(NOW + YEAR + 1).verify(token)).toBeUndefined();
  });

  test('stays good when a new key signs, until the old key is taken away', () => {
    expect(tokensAt(NOW, [NEW, OLD]).verify(token)).toEqual(bearer);
    expect(tokensAt(NOW, [NEW, OLD]).mint(bearer)).toMatch(/^new\./);
    expect(tokensAt(NOW, [NEW]).verify(token)).toBeUndefined();
  });

  test('says whether its visitor was verified, and cannot be made to', () => {
    const tokens = tokensAt(NOW);
    const verified = tokens.mint({ ...bearer, verified: true });
    expect(tokens.verify(verified)).toEqual({ ...bearer, verified: true });
    const raised = token.replace(`.${bearer.visitorId}.`, `.${bearer.visitorId}v.`);
    expect(raised).not.toBe(token);
    expect(tokens.verify(raised)).toBeUndefined();
  });

  test('says how often its visitor had logged out, and cannot be made to', () => {
    const tokens = tokensAt(NOW);
    for (const verified of [true, false]) {
      for (const logouts of [1, 10, 999_999_999]) {
        const named = { ...bearer, verified, logouts };
        expect(tokens.verify(tokens.mint(named))).toEqual(named);
      }
    }
    const ended = tokens.mint({ ...bearer, logouts: 1 });
    for (const [from, to] of [
      ['-1.', '-2.'],
      ['-1.', '.'],
      ['-1.', '-01.'],
    ] as const) {
      expect(ended.replace(from, to)).not.toBe(ended);
      expect(tokens.verify(ended.replace(from, to))).toBeUndefined();
    }
  });

  test('is void when any character is changed, added or taken away', () => {
    const tokens = tokensAt(NOW);
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, at) + other + token.slice(at + 1);
      // The last character of 43 in base64url carries 4 bits that count and 2 that do not.
      if (at === token.length - 1) continue;
      expect(tokens.verify(changed)).toBeUndefined();
      expect(tokens.verify(token.slice(0, at))).toBeUndefined();
    }
    expect(tokens.verify(`${token}A`)).toBeUndefined();
  });

  test('of another visitor does not fit with this signature', () => {
    const other = tokensAt(NOW).mint({ ...bearer, visitorId: newVisitorId() });
    const signature = token.slice(token.lastIndexOf('.'));
    const forged = other.slice(0, other.lastIndexOf('.')) + signature;
    expect(tokensAt(NOW).verify(forged)).toBeUndefined();
  });

  test.each([
    ['empty', ''],
    ['dots', '....'],
    ['an unknown key', 'nobody.' + token.split('.').slice(1).join('.')],
    ['a prototype property as key', '__proto__.' + token.split('.').slice(1).join('.')],
    ['very long', 'a'.repeat(100_000)],
  ])('that is %s is none', (_case, text) => {
    expect(tokensAt(NOW).verify(text)).toBeUndefined();
  });
});

test.each([
  ['no key', []],
  ['a short secret', [{ id: 'a', secret: 'short' }]],
  ['an id with a dot', [{ id: 'a.b', secret: 'a secret of sixteen bytes' }]],
])('%s is refused', (_case, keys) => {
  expect(() => new VisitorTokens(keys, Date.now)).toThrow(RangeError);
});
