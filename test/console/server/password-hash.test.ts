import { expect, test } from '@jest/globals';
import {
  hashPassword,
  matchesHash,
  parsePasswordHash,
} from '../../../src/runtime/password-hash.ts';

test('a password is known again by its hash, and no other is', async () => {
  const text = await hashPassword('correct horse');
  expect(text).toMatch(/^\$scrypt\$ln=16,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  const hash = parsePasswordHash(text);
  if (hash === undefined) throw new Error('it does not read what it writes');
  expect(await matchesHash('correct horse', hash)).toBe(true);
  expect(await matchesHash('correct hors', hash)).toBe(false);
  expect(await hashPassword('correct horse')).not.toBe(text);
});

test('the vector of RFC 7914 §12 is understood', async () => {
  const salt = Buffer.from('SodiumChloride').toString('base64').replace(/=+$/, '');
  const bytes =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
    'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
  const stored = Buffer.from(bytes, 'hex').toString('base64').replace(/=+$/, '');
  const hash = parsePasswordHash(`$scrypt$ln=14,r=8,p=1$${salt}$${stored}`);
  if (hash === undefined) throw new Error('not read');
  expect(await matchesHash('pleaseletmein', hash)).toBe(true);
});

test.each([
  '',
  'a-plain-password',
  '$scrypt$',
  '$scrypt$ln=9,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
  '$scrypt$ln=30,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
  '$scrypt$ln=20,r=99,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
  '$scrypt$ln=16,r=8,p=9$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
  '$scrypt$ln=16,r=8,p=1$short$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
])('%j is no hash that is taken', (text) => {
  expect(parsePasswordHash(text)).toBeUndefined();
});
