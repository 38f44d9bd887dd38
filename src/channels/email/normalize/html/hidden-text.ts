import { colorOf, quantity } from './css-properties.ts';
import type { Declared } from './style-sheets.ts';

type Attributes = Readonly<Record<string, string>>;

/** What text inherits from the element around it. */
export interface Look {
  /** In pixels; NaN if it depends on what is not known. */
  readonly fontSize: number;
  readonly isInvisible: boolean;
  /** Within a box that has no size, or is far away. */
  readonly isAway: boolean;
  /** Letters of any color may be seen: they have a shadow, or lie on a picture. */
  readonly isDrawn: boolean;
  readonly color: 'seen' | 'transparent' | 'as background';
}

/** The look of text without any style. */
export const PLAIN_LOOK: Look = {
  fontSize: 16,
  isInvisible: false,
  isAway: false,
  isDrawn: false,
  color: 'seen',
};

/** The look of text that may look in any way. */
const UNKNOWN_LOOK: Look = { ...PLAIN_LOOK, fontSize: NaN };

const SIDES = ['top', 'right', 'bottom', 'left'];
const MIN_FONT_SIZE = 4;
const MIN_OPACITY = 0.1;
const ANIMATION = ['animation', 'animation-name'];
/** An offset to the left or up that moves text to where nobody scrolls, in pixels. */
const FAR = 999;
/** How wide or high a box may be from whose right or lower side text is placed. */
const MAX_PAGE = 4000;

/**
 * The look around the content of a table in a document without a doctype, which inherits neither
 * font size nor color (HTML §15.3.10).
 */
export function lookInTable(look: Look): Look {
  return { ...look, fontSize: PLAIN_LOOK.fontSize, color: PLAIN_LOOK.color };
}

/** Whether a person sees text of this look. */
export function isSeen({ fontSize, isInvisible, isAway, isDrawn, color }: Look): boolean {
  return !(fontSize < MIN_FONT_SIZE) && !isInvisible && !isAway && (isDrawn || color === 'seen');
}

/**
 * The look of an element's own text; undefined if nothing within the element can be seen, whatever
 * its own style. docs/security.md lists what hides text and what does not; in doubt it is seen.
 */
export function lookOf(
  tag: string,
  attributes: Attributes,
  declared: Declared,
  parent: Look,
): Look | undefined {
  const fontSize = fontSizeOf(tag, declared.get('font-size')?.value ?? '', parent.fontSize);
  const style: Style = {
    value: (name) => declared.get(name)?.value ?? '',
    pixels: (value) => (value === '' ? NaN : quantity(value, fontSize)),
  };
  if (style.value('display') === 'none') return undefined;
  // What an animation ends with is not known; without a box, none runs.
  if (ANIMATION.some((name) => !['', 'none'].includes(style.value(name)))) return UNKNOWN_LOOK;
  if (declared.size > 0 && isGone(tag, style)) return undefined;
  const visibility = style.value('visibility');
  return {
    fontSize,
    isInvisible: inherits(visibility)
      ? parent.isInvisible
      : visibility === 'hidden' || visibility === 'collapse',
    // What is placed may be placed by a box further out.
    isAway:
      (parent.isAway && ['', 'static', 'relative'].includes(style.value('position'))) ||
      (declared.size > 0 && (isFlat(tag, style) || isFar(tag, style))),
    isDrawn: parent.isDrawn || DRAWN.some((property) => !isNone(style.value(property))),
    color: colorState(tag, attributes, style, parent.color),
  };
}

interface Style {
  /** The declared value of a property; empty if there is none. */
  readonly value: (property: string) => string;
  /** A length; NaN if it is none, or a percentage. */
  readonly pixels: (value: string) => number;
}

const inherits = (value: string): boolean =>
  ['', 'inherit', 'unset', 'revert', 'revert-layer'].includes(value);

const isNone = (value: string): boolean => value === '' || value === 'none';

function fontSizeOf(tag: string, value: string, parent: number): number {
  if (inherits(value) && value !== '') return parent;
  if (value !== '') return quantity(value, parent, parent / 100);
  // Without any style, these are larger than their parent (HTML §15.3), or independent of it.
  return tag === 'button' ? NaN : parent * (/^(?:h[1-3]|big)$/.test(tag) ? 2 : 1);
}

/** Elements that are blocks unless `display` says otherwise. */
const BLOCK =
  /^(?:address|article|aside|blockquote|center|d[dlt]|div|figcaption|figure|footer|form|h[1-6]|header|li|main|nav|[ou]l|p|pre|section)$/;
const TABLE = /^(?:table|caption|colgroup|col|t(?:body|head|foot|[rdh]))$/;

/** Whether it has a box to which sizes and shapes apply; that of a table grows with its text. */
function hasBox(tag: string, { value }: Style): boolean {
  const display = value('display');
  return display === '' ? BLOCK.test(tag) : /^(?:inline-)?block$/.test(display) && !TABLE.test(tag);
}

function isGone(tag: string, style: Style): boolean {
  const { value } = style;
  const isPlaced = /^(?:absolute|fixed)$/.test(value('position'));
  return (
    (quantity(value('opacity'), NaN, 0.01, 1) < MIN_OPACITY && value('display') !== 'contents') ||
    (isPlaced && isShapedAway(value('clip'), style)) ||
    (hasBox(tag, style) &&
      ['clip-path', 'transform', 'scale'].some((name) => isShapedAway(value(name), style)))
  );
}

/** Whether nothing beside a size or an offset makes room for text, or moves it. */
function hasNoRoom({ value, pixels }: Style): boolean {
  const isZero = (name: string) => value(name) === '' || pixels(value(name)) === 0;
  return (
    value('room') === '' &&
    ['min-width', 'min-height', ...SIDES.map((side) => `padding-${side}`)].every(isZero)
  );
}

/** A block without height or width that cuts off what does not fit. */
function isFlat(tag: string, style: Style): boolean {
  const { value, pixels } = style;
  const isZero = (property: string) => pixels(value(property)) === 0;
  const isCut = (axis: 'x' | 'y') => /^(?:hidden|clip)$/.test(value(`overflow-${axis}`));
  return (
    ((isCut('y') && (isZero('height') || isZero('max-height'))) ||
      (isCut('x') && (isZero('width') || isZero('max-width')))) &&
    hasBox(tag, style) &&
    hasNoRoom(style)
  );
}

/** Text far below or at the right is scrolled to. One offset counts, if nothing takes it back. */
function isFar(tag: string, style: Style): boolean {
  const { value, pixels } = style;
  const width = value('width');
  if (width !== '' && width !== 'auto' && !(pixels(width) <= FAR)) return false;
  if (!hasNoRoom(style) || value('display') === 'contents') return false;
  const position = value('position');
  const moves = ['transform', 'translate'].filter((name) => !isNone(value(name)));
  if (/^(?:absolute|fixed|relative)$/.test(position)) {
    const isOnly = (property: string, opposite: string) =>
      ['', 'auto'].includes(value(opposite)) && !(pixels(value(`margin-${property}`)) >= FAR / 10);
    const page = position === 'relative' ? 0 : MAX_PAGE;
    return (
      moves.length === 0 &&
      ((pixels(value('left')) <= -FAR && isOnly('left', 'right')) ||
        (pixels(value('right')) >= FAR + page && isOnly('right', 'left')) ||
        (pixels(value('top')) <= -FAR - MAX_PAGE && isOnly('top', 'bottom')))
    );
  }
  if (position !== '' || !hasBox(tag, style)) return false;
  const [move] = moves;
  if (move !== undefined) return moves.length === 1 && isMovedAway(value(move), style);
  return pixels(value('margin-left')) <= -FAR - MAX_PAGE && !(pixels(value('margin-right')) < 0);
}

/** Whether the value is one translation, far to the left or up. */
function isMovedAway(functions: string, { pixels }: Style): boolean {
  const [, axis = '', list = ''] = /^translate(3d|x|y)?\(([^()]{1,99})\)$/.exec(functions) ?? [];
  const [first = NaN, second = NaN] = list
    .trim()
    .split(/[\s,]+/)
    .map(pixels);
  const [x, y] = axis === 'y' ? [NaN, first] : [first, second];
  return x <= -FAR || y <= -FAR - MAX_PAGE;
}

/** A box is taken to be so wide and high where a shape is a share of it, in pixels. */
const BOX = 1000;

/** Whether the functions of a `clip` or a `transform` leave nothing in sight. */
function isShapedAway(functions: string, { pixels }: Style): boolean {
  if (functions === '') return false;
  for (const [, name = '', list = ''] of functions.matchAll(/([a-z\d]{1,15})\(([^()]*)/g)) {
    const words = list.trim().split(/[\s,]+/);
    const [a = NaN, b = a, c = a, d = b] = words.map((each) =>
      name === 'inset' && each.endsWith('%') ? (Number.parseFloat(each) * BOX) / 100 : pixels(each),
    );
    const isAway =
      (name === 'rect' && (c <= a || b <= d)) ||
      (name === 'inset' && (a + c >= BOX || b + d >= BOX)) ||
      (name === 'circle' && a === 0) ||
      (name === 'ellipse' && (a === 0 || b === 0)) ||
      (name === 'xywh' && (c === 0 || d === 0)) ||
      (name === 'polygon' && new Set(list.split(/\s?,\s?/)).size === 1) ||
      (/^scale(?:3d|x|y)?$/.test(name) && (a === 0 || b === 0));
    if (isAway) return true;
  }
  return false;
}

/** Declarations by which letters of no color are seen all the same. */
const DRAWN = `text-shadow background-clip background-image box-shadow -webkit-text-fill-color
  -webkit-text-stroke`.split(/\s+/);

function colorState(
  tag: string,
  attributes: Attributes,
  { value, pixels }: Style,
  parent: Look['color'],
): Look['color'] {
  const color = value('color');
  const background = value('background-color');
  // A box of its own may be elsewhere than the background.
  const isElsewhere = !['', 'static'].includes(value('position')) || value('room') !== '';
  if (inherits(color) || color === 'currentcolor') {
    const isLink = tag === 'a' && attributes['href'] !== undefined;
    if (color === '' && (isLink || tag === 'button' || tag === 'mark')) return 'seen';
    const isCovered = isElsewhere || !['', 'transparent'].includes(background);
    return parent === 'as background' && isCovered ? 'seen' : parent;
  }
  const text = colorOf(color);
  const behind = colorOf(background);
  if (text?.alpha === 0) return 'transparent';
  const isSame = text !== undefined && behind?.alpha === 1 && text.hex === behind.hex;
  // Text that a flat box does not cut off lies outside of its background.
  const isFlat = ['height', 'max-height', 'width', 'max-width'].some(
    (name) => pixels(value(name)) === 0,
  );
  return isSame && !isFlat && value('display') !== 'contents' ? 'as background' : 'seen';
}
