import { expect, test } from '@jest/globals';
import { withImageNames, withShownImages } from '../../src/delivery/compose.ts';

const ONE = 'https://base.invalid/1/';
const TEN = 'https://base.invalid/10/';

test.each([
  ['an image', `see ![a.png](${ONE})`, 'see ![a.png](https://m.example/x?a=1&b=2)'],
  [
    'twice',
    `![a](${ONE}) ![b](${ONE})`,
    '![a](https://m.example/x?a=1&b=2) ![b](https://m.example/x?a=1&b=2)',
  ],
  ['one that has no address', `![b.png](${TEN})`, '[image: b.png]'],
  ['a name with brackets', `![b\\]c](${TEN})`, '[image: b\\]c]'],
  [
    'in HTML',
    `<p><img src="${ONE}" alt="a" /></p>`,
    '<p><img src="https://m.example/x?a=1&b=2" alt="a" /></p>',
  ],
  ['in HTML without an address', `<p><img src="${TEN}" alt="b" /></p>`, '<p>[image: b]</p>'],
])('%s', (_, content, expected) => {
  const images = [
    { shownAs: ONE, url: 'https://m.example/x?a=1&b=2' },
    { shownAs: TEN, url: undefined },
  ];
  expect(withShownImages(content, images)).toBe(expected);
});

test.each([
  ['https://m.example/a(b) "c".png', 'https://m.example/a%28b%29%20%22c%22.png'],
  ['https://m.example/a%20b', 'https://m.example/a%20b'],
])('an address that would end what it stands in: %s', (url, expected) => {
  expect(withShownImages(`![a](${ONE})`, [{ shownAs: ONE, url }])).toBe(`![a](${expected})`);
});

test.each(['javascript:alert(1)', 'data:image/png;base64,AA==', '/relative'])(
  'an address that is no web address is not shown: %s',
  (url) => {
    expect(withShownImages(`![a](${ONE})`, [{ shownAs: ONE, url }])).toBe('[image: a]');
  },
);

test('addresses that would make the content too long are left out, all of them', () => {
  const content = `${'x'.repeat(99_950)} ![a](${ONE})`;
  const url = `https://m.example/${'y'.repeat(200)}`;
  expect(withShownImages(content, [{ shownAs: ONE, url }])).toMatch(/x \[image: a\]$/);
});

test('without attachments all are named', () => {
  expect(withImageNames(`![a](${ONE}) ![b](${TEN})`, [{ shownAs: ONE }, { shownAs: TEN }])).toBe(
    '[image: a] [image: b]',
  );
});
