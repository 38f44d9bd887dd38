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
const GLOBAL = /^(?:inherit|initial|unset|revert|revert-layer)$/;
/** With one of these, a browser accepts any value, and finds out later what it is. */
const SUBSTITUTED = /(?<![\w-])(?:var|env|attr)\(/;

const CALC = 'calc( -webkit-calc( min( max( clamp( round( mod( rem( abs( sign( calc-size(';
const LENGTH = `LENGTH ${CALC} anchor( anchor-size(`;
const SIZE = `${LENGTH} min-content max-content fit-content fit-content( stretch
  -webkit-fill-available`;
const COLOR = `COLOR currentcolor rgb( rgba( hsl( hsla( hwb( lab( lch( oklab( oklch( color( color-mix(
  light-dark( windowtext window canvastext canvas buttontext buttonface infotext menutext captiontext
  highlighttext highlight graytext fieldtext field marktext mark linktext -webkit-link`;
const BOXES = 'border-box padding-box content-box';
const sidesOf = (name: string): string => (SHORTHANDS.get(name) ?? []).join(' ');

/**
 * The properties that can hide text, or show it, and the words that each accepts; a browser ignores
 * any other value. An open bracket stands for a function.
 */
const GRAMMAR: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    visibility: 'visible hidden collapse',
    opacity: `NUMBER ${CALC}`,
    position: 'static relative absolute fixed sticky -webkit-sticky',
    'overflow overflow-x overflow-y': 'visible hidden clip scroll auto overlay',
    'width height min-width min-height': `${SIZE} auto`,
    'max-width max-height': `${SIZE} none`,
    [`padding ${sidesOf('padding')}`]: LENGTH,
    [`margin inset ${sidesOf('margin')} ${sidesOf('inset')}`]: `${LENGTH} auto`,
    'font-size': `${LENGTH} xx-small x-small small medium large x-large xx-large xxx-large smaller
      larger math`,
    'color background-color': COLOR,
    background: `${COLOR} ${LENGTH} ${BOXES} text none auto top right bottom left center cover contain
      repeat repeat-x repeat-y no-repeat space round scroll fixed local`,
    transform: `none matrix( matrix3d( perspective( rotate( rotate3d( rotatex( rotatey( rotatez( scale(
      scale3d( scalex( scaley( scalez( skew( skewx( skewy( translate( translate3d( translatex(
      translatey( translatez(`,
    scale: `NUMBER ${CALC} none`,
    translate: `${LENGTH} none`,
    clip: 'auto rect(',
    'clip-path': `none ${BOXES} margin-box fill-box stroke-box view-box url( inset( circle( ellipse(
      polygon( path( rect( xywh( shape(`,
  }).flatMap(([names, list]) => {
    const words = new Set(list.split(/\s+/));
    return names.split(' ').map((name) => [name, words] as const);
  }),
);
/** The most words of a value; one, of other properties. */
const MOST_WORDS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    overflow: 2,
    padding: 4,
    margin: 4,
    inset: 4,
    background: 99,
    transform: 99,
    scale: 3,
    translate: 3,
    'clip-path': 2,
  }),
);
const INSIDE = '(?:(?:flow|flow-root)(?: list-item)?|list-item|table|flex|grid|ruby|math)';
const DISPLAY = new RegExp(
  `^(?:none|contents|(?:block|inline|run-in)(?: ${INSIDE})?|${INSIDE}(?: (?:block|inline|run-in))?|` +
    'inline-(?:block|table|flex|grid)|-webkit-(?:inline-)?(?:box|flex)|ruby-text|' +
    'table-(?:caption|cell|column|row|(?:column|row|header|footer)-group))$',
);
/** They only make text seen, or unsure; any value counts. */
const LENIENT: ReadonlySet<string> = new Set(
  `animation animation-name background-image background-clip text-shadow -webkit-text-fill-color
  -webkit-text-stroke box-shadow room`.split(/\s+/),
);
/** What makes room for text, or moves it, beside the properties of `GRAMMAR`: named `room` together. */
const ROOM =
  /^(?:float|flex|flex-grow|(?:block|inline)-size|border(?:-(?:top|right|bottom|left|width|style|block|inline)(?:-[a-z-]{1,20})?)?|(?:margin|padding|inset|min)-(?:block|inline)(?:-[a-z]{1,5})?)$/;
const NO_ROOM = /^(?:0[a-z%]{0,3}|none|normal|initial|unset)$/;
/** The properties that can hide text or show it. */
const LONGHANDS: ReadonlySet<string> = new Set(
  ['display', ...GRAMMAR.keys(), ...LENIENT].filter((name) => !SHORTHANDS.has(name)),
);

const NUMBER = String.raw`([+-]?(?:\d*\.)?\d+(?:e[+-]?\d+)?)`;
const IS_NUMBER = new RegExp(`^${NUMBER}%?$`);
/** Without a unit, some are valid in documents without a doctype. */
const IS_LENGTH = new RegExp(
  `^${NUMBER}(?:%|p[xtc]|in|cm|mm|q|r?(?:em|ex|ch|cap|ic|lh)|(?:[sld]?v|cq)(?:w|h|i|b|min|max))?$`,
);
const WITH_UNIT = new RegExp(`^${NUMBER}([a-z]*|%)$`);
/** What may precede the size in `font`. */
const FONT_STYLE =
  /^(?:normal|italic|oblique|-?\d+deg|small-caps|bold(?:er)?|lighter|[1-9]\d{0,3}|(?:(?:ultra|extra|semi)-)?(?:condensed|expanded))$/;
const SYSTEM_FONT = /^(?:caption|icon|menu|message-box|small-caption|status-bar)$/;

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
  const [, digits = 'NaN', unit = ''] = WITH_UNIT.exec(plain) ?? [];
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

/** Whether a browser accepts the words as a value. */
function isAccepted(name: string, words: readonly string[]): boolean {
  if (name === 'display') return DISPLAY.test(words.join(' '));
  return words.length <= (MOST_WORDS.get(name) ?? 1) && words.every((word) => isKnown(name, word));
}

function isKnown(name: string, word: string): boolean {
  const known = GRAMMAR.get(name);
  if (known === undefined) return false;
  if (known.has(word.endsWith(')') ? word.slice(0, word.indexOf('(') + 1) : word)) return true;
  if (known.has('COLOR') && colorOf(word) !== undefined) return true;
  if (/^-[.\d]/.test(word) && /^(?:font|padding|width|height|max-|min-)/.test(name)) return false;
  return known.has('NUMBER') ? IS_NUMBER.test(word) : known.has('LENGTH') && IS_LENGTH.test(word);
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
  const names =
    name === 'all' ? [...LONGHANDS] : (SHORTHANDS.get(name) ?? (LONGHANDS.has(name) ? [name] : []));
  if (ROOM.test(name)) {
    const isNothing =
      !/^(?:margin|inset)/.test(name) && value.split(' ').every((each) => NO_ROOM.test(each));
    return isNothing ? [] : [['room', value]];
  }
  if (name.startsWith('-webkit-text-stroke-')) return [['-webkit-text-stroke', value]];
  if (names.length === 0 || value === '') return [];
  if (GLOBAL.test(value)) return names.map((each) => [each, value]);
  if (SUBSTITUTED.test(value) || (value.length > MAX_VALUE && name !== 'font')) {
    return names.map((each) => [each, DOUBTFUL]);
  }
  if (LENIENT.has(name)) return [[name, value]];
  if (name === 'font') {
    const size = sizeIn(value.slice(0, MAX_VALUE).match(LIST_WORD) ?? []);
    return size === undefined ? [] : [['font-size', size]];
  }
  if (name === 'background') return backgroundOf(value);
  const words = value.match(WORD) ?? [];
  if (words.join(' ') !== value || !isAccepted(name, words)) return [];
  if (name === 'scale' || name === 'translate') return [[name, `${name}(${value})`]];
  if (!SHORTHANDS.has(name)) return [[name, value]];
  const [first = '', second = first, third = first, fourth = second] = words;
  return names.map((each, at) => [each, [first, second, third, fourth][at] ?? '']);
}

/** A word with its brackets; in `LIST_WORD`, commas and slashes separate words as well. */
const WORD = /(?:\((?:[^()]|\([^()]*\))*\)|[^\s()])+/g;
const LIST_WORD = /(?:\((?:[^()]|\([^()]*\))*\)|[^\s()/,])+/g;

/** The size in the words of a `font`, or the name of a system's font; undefined if it is invalid. */
function sizeIn(words: readonly string[]): string | undefined {
  const family = words.at(-1) ?? '';
  if (words.length === 1) return SYSTEM_FONT.test(family) ? family : undefined;
  const size = words.find((word) => !FONT_STYLE.test(word)) ?? '';
  return isAccepted('font-size', [size]) && /^[^\d.+#]/.test(family) ? size : undefined;
}

function backgroundOf(value: string): [name: string, value: string][] {
  const isPicture = /url\(|gradient\(|image|\btext\b/.test(value);
  const words = value.match(LIST_WORD) ?? [];
  if (!isPicture && !isAccepted('background', words)) return [];
  const [color = 'transparent', ...others] = words.filter((word) => colorOf(word) !== undefined);
  if (!isPicture && others.length > 0) return [];
  return [
    ['background-color', isPicture ? DOUBTFUL : color],
    ['background-image', isPicture ? 'url()' : 'none'],
  ];
}
