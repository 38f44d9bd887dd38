import { describe, expect, test } from '@jest/globals';
import { chooseLanguage, mergeSettings } from '../../src/widget/settings.ts';
import { accentOf } from '../../src/widget/look/accent.ts';

const COLORS = [
  '#000000',
  '#ffffff',
  '#ffd400',
  '#3b5bdb',
  '#0f766e',
  '#777777',
  '#ff0000',
  '#00ff00',
];
const SURFACES = {
  light: ['#ffffff', '#f3f3f5'],
  dark: ['#1b1b1f', '#29292f'],
} as const;

function luminance(css: string): number {
  const hex = css === '#fff' ? '#ffffff' : css === '#000' ? '#000000' : css;
  const channels = hex.startsWith('#')
    ? [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
    : (hex.match(/\d+/g) ?? []).map(Number);
  const [r = 0, g = 0, b = 0] = channels.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const contrast = (a: string, b: string): number => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

describe('the accent', () => {
  test.each(COLORS)('of %s can be read, whatever the scheme', (color) => {
    for (const scheme of ['light', 'dark'] as const) {
      const { fill, on, ink } = accentOf(color, scheme);
      expect(contrast(on, fill)).toBeGreaterThanOrEqual(4.5);
      for (const surface of SURFACES[scheme])
        expect(contrast(ink, surface)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(fill, SURFACES[scheme][0])).toBeGreaterThanOrEqual(1.3);
    }
  });

  test('is the shop’s own colour where that can be read', () => {
    expect(accentOf('#0f766e', 'light')).toEqual({
      fill: 'rgb(15,118,110)',
      on: '#fff',
      ink: 'rgb(15,118,110)',
    });
  });

  test.each(['', 'red', '#12', 'url(x)', 'rgb(1,2,3);x'])('%p is no colour', (color) => {
    expect(accentOf(color, 'light')).toEqual(accentOf(undefined, 'light'));
  });
});

describe('the language', () => {
  const launcher = ['Open', 'Dismiss', 'Failed'] as const;
  const known = { en: launcher, de: launcher, ja: launcher };
  test.each([
    [['de'], { name: 'de', locale: 'de' }],
    [['de-AT', 'en'], { name: 'de', locale: 'de-AT' }],
    [['DE_ch'], { name: 'de', locale: 'de-CH' }],
    [[undefined, '', 'ja'], { name: 'ja', locale: 'ja' }],
    [['sv', 'de'], { name: 'de', locale: 'de' }],
    [['den', '!', 'x'], { name: 'en', locale: 'en' }],
    [[], { name: 'en', locale: 'en' }],
  ])('of %j', (wanted, expected) => {
    expect(chooseLanguage(wanted, known)).toEqual({ ...expected, launcher });
  });
});

test('attributes win over the configuration, empty ones do not', () => {
  const attributes = { name: ' Acme ', greeting: '', preChat: 'required', other: 'x' };
  const config = { name: 'Shop', greeting: 'Hi', color: '#123456' };
  expect(mergeSettings(attributes, config)).toEqual({
    name: 'Acme',
    greeting: 'Hi',
    color: '#123456',
    preChat: 'required',
  });
});
