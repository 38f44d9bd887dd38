import { expect, test } from '@jest/globals';
import { paletteItems } from '../../../src/console/page/shell/palette-items.ts';

const PLACES = {
  pages: [
    { name: 'Overview', path: '/', key: 'o' },
    { name: 'Messages', path: '/messages', key: 'm' },
  ],
  shops: ['acme', 'initech'],
  isUtc: false,
};
const labels = (text: string) => paletteItems(text, PLACES).map(({ label }) => label);
const firstHref = (text: string) => {
  const [first] = paletteItems(text, PLACES);
  return first?.kind === 'page' ? first.href : undefined;
};

test('without a text, pages come first', () => {
  expect(labels('').slice(0, 3)).toEqual(['Overview', 'Messages', 'Queued messages']);
});

test('all words have to match, in any case and order', () => {
  expect(labels('OF init')).toContain('Messages of initech');
  expect(labels('init tick')[0]).toBe('Tickets of initech');
  expect(labels('utc')[0]).toBe('Show times in UTC');
});

test('an id opens its message', () => {
  const id = '0197f3a2-7d54-7e2c-9f4e-3e7a5a1c2b3d';
  expect(firstHref(` ${id.toUpperCase()} `)).toBe(`/messages/${id}`);
});

test('an address or a number is searched for, also at each platform', () => {
  expect(firstHref('ann@example.com')).toBe('/messages?text=ann%40example.com');
  expect(labels('ann@example.com')).toContain('Find the contact ann@example.com of initech');
  expect(paletteItems('+1 555 000 1111', PLACES)[1]).toMatchObject({
    href: '/platform?shop=acme&view=contacts&phone=%2B15550001111',
  });
});

test('any other text can be searched for', () => {
  expect(labels('order 42')).toEqual(['Search messages for “order 42”']);
});
