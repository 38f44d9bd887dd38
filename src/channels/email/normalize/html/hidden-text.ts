import { colorOf, quantity } from './css-properties.ts';
import type { Declared } from './style-sheets.ts';

type Attributes = Readonly<Record<string, string>>;

/** What text inherits from the element around it. */
export interface Look {
  /** In pixels; NaN if it depends on what is not known. */
  readonly fontSize: number;
  readonly isInvisible: boolean;
  /** Moved away by `text-indent`. */
  readonly isIndented: boolean;
  readonly color: 'seen' | 'transparent' | 'as background';
}

/** The look of text without any style. */
export const PLAIN_LOOK: Look = {
  fontSize: 16,
  isInvisible: false,
  isIndented: false,
  color: 'seen',
};

const MIN_FONT_SIZE = 4;
const MIN_OPACITY = 0.1;
const ANIMATION = ['animation', 'animation-name'];
/** An offset that moves text off the page, in pixels. */
const FAR = 999;

/** Whether a person sees text of this look. */
export function isSeen({ fontSize, isInvisible, isIndented, color }: Look): boolean {
  return !(fontSize < MIN_FONT_SIZE) && !isInvisible && !isIndented && color === 'seen';
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
  // What an animation ends with is not known.
  const isAnimated = ANIMATION.some((name) => !['', 'none'].includes(style.value(name)));
  if (declared.size > 0 && !isAnimated && isGone(tag, style)) return undefined;
  const visibility = style.value('visibility');
  const indent = style.value('text-indent');
  return {
    fontSize,
    isInvisible: inherits(visibility)
      ? parent.isInvisible
      : visibility === 'hidden' || visibility === 'collapse',
    // A table does not inherit it (HTML §15.3.9).
    isIndented: inherits(indent)
      ? parent.isIndented && tag !== 'table'
      : Math.abs(style.pixels(indent)) >= FAR,
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

function fontSizeOf(tag: string, value: string, parent: number): number {
  if (inherits(value) && value !== '') return parent;
  if (value !== '') return quantity(value, parent, parent / 100);
  // Without any style, these are larger than their parent (HTML §15.3), or independent of it.
  return tag === 'button' ? NaN : parent * (/^(?:h[1-3]|big)$/.test(tag) ? 2 : 1);
}

const SHAPES = ['clip', 'clip-path', 'transform', 'translate', 'scale'];

function isGone(tag: string, style: Style): boolean {
  const { value } = style;
  return (
    value('display') === 'none' ||
    quantity(value('opacity'), NaN, 0.01, 1) < MIN_OPACITY ||
    quantity(value('zoom'), NaN) === 0 ||
    isFlat(tag, style) ||
    isFar(style) ||
    SHAPES.some((property) => isShapedAway(value(property), style))
  );
}

/** A box without height or width that cuts off what does not fit, and has no padding for it. */
function isFlat(tag: string, { value, pixels }: Style): boolean {
  const isZero = (property: string) => pixels(value(property)) === 0;
  /** A size that the box has in any case. */
  const isAtLeast = (property: string) =>
    value(property) !== '' && !(pixels(value(property)) < MIN_FONT_SIZE);
  const isCut = (axis: 'x' | 'y') => /^(?:hidden|clip)$/.test(value(`overflow-${axis}`));
  return (
    (isCut('y') &&
      (isZero('height') || isZero('max-height')) &&
      !['min-height', 'padding-top', 'padding-bottom'].some(isAtLeast)) ||
    (isCut('x') &&
      // CSS 2.1 §10.4: the maximum width of a cell has no meaning.
      (isZero('width') || (isZero('max-width') && tag !== 'td' && tag !== 'th')) &&
      !['min-width', 'padding-left', 'padding-right'].some(isAtLeast))
  );
}

function isFar({ value, pixels }: Style): boolean {
  const isMoved = /^(?:absolute|fixed|relative)$/.test(value('position'));
  return (
    (isMoved &&
      ['top', 'right', 'bottom', 'left'].some((side) => Math.abs(pixels(value(side))) >= FAR)) ||
    Math.abs(pixels(value('margin-left'))) >= FAR ||
    pixels(value('margin-top')) <= -FAR
  );
}

/** A box is taken to be so wide and high where a shape is a share of it, in pixels. */
const BOX = 1000;

/** Whether the functions of one of `SHAPES` leave nothing in sight. */
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
      (/^scale(?:3d|x|y)?$/.test(name) && (a === 0 || b === 0)) ||
      (/^translate(?:3d|x|y)?$/.test(name) && (Math.abs(a) >= FAR || Math.abs(b) >= FAR));
    if (isAway) return true;
  }
  return false;
}

/** Declarations by which letters of no color are seen all the same. */
const DRAWN = ['text-shadow', 'background-clip', '-webkit-text-fill-color', '-webkit-text-stroke'];

function colorState(
  tag: string,
  attributes: Attributes,
  { value }: Style,
  parent: Look['color'],
): Look['color'] {
  const color = value('color');
  const background = value('background-color');
  const hasPicture = !['', 'none'].includes(value('background-image'));
  if (inherits(color) || color === 'currentcolor') {
    const isLink = tag === 'a' && attributes['href'] !== undefined;
    if (color === '' && (isLink || tag === 'button' || tag === 'mark')) return 'seen';
    const isCovered = hasPicture || !['', 'transparent'].includes(background);
    return parent === 'as background' && isCovered ? 'seen' : parent;
  }
  if (DRAWN.some((property) => !['', 'none'].includes(value(property)))) return 'seen';
  const text = colorOf(color);
  const behind = colorOf(background);
  if (text?.alpha === 0) return 'transparent';
  const isSame = text !== undefined && behind?.alpha === 1 && text.hex === behind.hex;
  return isSame && !hasPicture ? 'as background' : 'seen';
}
