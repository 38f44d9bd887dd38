import { expect, test } from '@jest/globals';
import { ServedShops } from '../../src/local-platform/authenticate.ts';

const ACME = '3c1f8a1e-52b7-4a0e-9f52-6b7d1f0a9c01';
const BETA = '9b7d5a44-1d0c-4b5e-8a63-0f2e6c7d8b02';
const acme = { shopId: ACME.toUpperCase(), name: 'acme', apiKey: 'key' };

test('a new key is valid at once, together with the old one while both are configured', () => {
  const served = new ServedShops([acme]);
  const { ofKey } = served;
  served.replace([acme, { ...acme, apiKey: 'new' }]);
  expect([ofKey('Bearer key', ACME), ofKey('Bearer new', ACME)]).toEqual([ACME, ACME]);
  served.replace([{ ...acme, apiKey: 'new' }]);
  expect(() => ofKey('Bearer key', ACME)).toThrow('not known');
});

test('removed shops are no longer served, but keep their names for pending replies', () => {
  const served = new ServedShops([acme], [ACME.toUpperCase()]);
  const { names } = served;
  expect(served.isWithoutAgent(ACME)).toBe(true);
  served.replace([{ shopId: BETA, name: 'beta', apiKey: 'other' }]);
  expect(served.ofKey('Bearer other', BETA)).toBe(BETA);
  expect(() => served.ofKey('Bearer key', ACME)).toThrow();
  expect([names.get(ACME), names.get(BETA)]).toEqual(['acme', 'beta']);
  expect(served.isWithoutAgent(ACME)).toBe(false);
});
