import Color from 'color';

/** Longer values are in doubt. */
const MAX_VALUE = 200;
const MAX_COLOR = 50;
/** A value that depends on something unknown, such as a variable. It hides nothing. */
export const DOUBTFUL = 'var()';

const SIDES = ['top', 'right', 'bottom', 'left'];
const SHORTHANDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['font', ['font-size']],
  ['background', ['background-color', 'background-image']],
  ['overflow', ['overflow-x', 'overflow-y']],
  ['inset', SIDES],
  ['margin', SIDES.map((side) => `margin-${side}`)],
  ['padding', SIDES.map((side) => `padding-${side}`)],
]);
/** The properties that can hide text or show it. */
const LONGHANDS: ReadonlySet<string> = new Set([
  ...[...SHORTHANDS.values()].flat(),
  ...`display visibility opacity zoom position width height max-width max-height min-width min-height
  text-indent transform translate scale clip clip-path color background-clip text-shadow animation
  animation-name -webkit-text-fill-color -webkit-text-stroke`.split(/\s+/),
]);
const GLOBAL = /^(?:inherit|initial|unset|revert|revert-layer)$|\b(?:var|env)\(/;
/** What a browser accepts; it ignores everything else. */
const ACCEPTED: ReadonlyMap<string, RegExp> = new Map([
  [
    'display',
    /^(?:none|contents|block|(?:inline|flow|list|table)(?:-[a-z-]+)?|flex|grid|-webkit-box)$|\s/,
  ],
  ['visibility', /^(?:visible|hidden|collapse)$/],
  ['opacity', /^[-+.\de]+%?$|\(/],
  ['animation-name', /^/],
]);
/** The words of the other properties, besides lengths and colors. */
const WORD =
  /^(?:none|auto|normal|visible|hidden|clip|scroll|static|relative|absolute|fixed|sticky|local|x?x?x?-?(?:small|large)r?|medium|(?:min|max|fit)-content|[a-z]+-box|text|currentcolor|(?:window|canvas|button)text|(?:no-)?repeat(?:-[xy])?|top|bottom|left|right|center|cover|contain)$/;

const UNITS: ReadonlyMap<string, number> = new Map([
  ['px', 1],
  ['pt', 4 / 3],
  ['pc', 16],
  ['in', 96],
  ['cm', 37.8],
  ['mm', 3.78],
  ['q', 0.945],
  ['rem', 16],
  ['vw', 10],
  ['vh', 10],
]);

/**
 * A length in pixels (CSS Values §6), in a window of 1000 × 1000 px; also one of `calc(1px)`.
 * @param em the font size in pixels
 * @param percent what one percent is
 * @param bare what a number without a unit is
 * @returns NaN if it is none, or depends on something unknown
 */
export function quantity(value: string, em: number, percent = NaN, bare = NaN): number {
  const plain = value
    .slice(0, MAX_VALUE)
    .replace(/calc\(|\)/g, '')
    .trim();
  const [, digits = 'NaN', unit = ''] = /^([+-]?[\d.]+(?:e[+-]?\d+)?)([a-z]*|%)$/.exec(plain) ?? [];
  if (Number(digits) === 0) return 0;
  if (unit === '' || unit === '%') return Number(digits) * (unit === '' ? bare : percent);
  return Number(digits) * (/^e[mx]$|^ch$/.test(unit) ? em : (UNITS.get(unit) ?? NaN));
}

/** A color by its name or number, or of `rgb()` or `hsl()`; undefined if it is none. */
export function colorOf(value: string): { hex: string; alpha: number } | undefined {
  if (/^#[\da-f]{6}$/.test(value)) return { hex: value, alpha: 1 };
  if (value.length > MAX_COLOR || !/^(?:[a-z]+$|#|rgb|hsl)/.test(value)) return undefined;
  try {
    const color = Color(value);
    return { hex: color.hex().toLowerCase(), alpha: color.alpha() };
  } catch {
    // The only fault is a text that is no color.
    return undefined;
  }
}

function isAccepted(property: string, value: string): boolean {
  if (/^-[.\d]/.test(value) && /^(?:font|padding|width|height|max-|min-)/.test(property))
    return false;
  const isKnown =
    WORD.test(value) ||
    /[\s(]/.test(value) ||
    !Number.isNaN(quantity(value, 16, 1, 1)) ||
    colorOf(value) !== undefined;
  return GLOBAL.test(value) || (ACCEPTED.get(property)?.test(value) ?? isKnown);
}

/**
 * What a declaration sets of the properties that can hide text or show it; nothing if a browser
 * ignores its value.
 */
export function longhands(property: string, value: string): [name: string, value: string][] {
  const name = property.replace(
    /^-webkit-(?=(?:transform|clip-path|background-clip|animation|animation-name)$)/,
    '',
  );
  if (name === 'all') return [...LONGHANDS].map((each) => [each, DOUBTFUL]);
  const names = SHORTHANDS.get(name) ?? (LONGHANDS.has(name) ? [name] : []);
  const known = value.length > MAX_VALUE && name !== 'font' ? DOUBTFUL : value;
  const words = wordsOf(name, known);
  if (names.length === 0 || words.length === 0) return [];
  if (!words.every((word) => isAccepted(name, word))) return [];
  const [first = '', second = first, third = first, fourth = second] = words;
  return names.map((each, at) => [each, [first, second, third, fourth][at] ?? '']);
}

/** The values of the properties that a declaration sets, in their order; none if it is invalid. */
function wordsOf(property: string, value: string): readonly string[] {
  if (property === 'scale' || property === 'translate') return [`${property}(${value})`];
  if (!SHORTHANDS.has(property)) return [value];
  const words = value.slice(0, MAX_VALUE).match(/(?:\([^()]*\)|[^\s()/,])+/g) ?? [];
  if (property === 'background') {
    if (/url\(|gradient\(|image|var\(/.test(value)) return [DOUBTFUL, 'url()'];
    if (!words.every((word) => isAccepted(property, word))) return [];
    return [words.find((word) => colorOf(word) !== undefined) ?? 'transparent', 'none'];
  }
  if (property !== 'font' || words.length === 1) return words;
  // The size comes before a family, and is a number only if it is 0.
  const isSize = (word: string) => /[a-z%)]$|^[.0]+$/.test(word) && isAccepted(property, word);
  return words
    .slice(0, -1)
    .filter((word) => isSize(word) && word !== 'normal')
    .slice(0, 1);
}
