/** What an element's own inline style says of its visibility. */
export interface Visibility {
  /** Nothing inside can be seen, whatever it says of itself. */
  readonly gone: boolean;
  /** Inherited, and a descendant may undo it: newsletters set `font-size:0` on every cell. */
  readonly zeroFont?: boolean;
  readonly invisible?: boolean;
}

/** What of a style can hide something; a style without any of it need not be read. */
const MAY_HIDE = /display|visibility|opacity|overflow|mso-hide|font(?:-size)?\s*:\s*[+.]?0/i;
/** A style that can say so without its being seen at first sight. */
const DISGUISED = /\/\*|\\/;

/** @param inZeroFont a size given here may make visible what stands in text of no size */
export function visibility(
  attributes: Readonly<Record<string, string>>,
  inZeroFont: boolean,
): Visibility {
  const style = attributes['style'];
  if (attributes['hidden'] !== undefined) return { gone: true };
  if (style === undefined) return { gone: false };
  if (!inZeroFont && !MAY_HIDE.test(style) && !DISGUISED.test(style)) return { gone: false };
  const declared = styleOf(style);
  const overflowHidden = declared.get('overflow') === 'hidden';
  const flat = isZero(declared.get('max-height')) || isZero(declared.get('height'));
  if (
    declared.get('display') === 'none' ||
    declared.get('mso-hide') === 'all' ||
    isZero(declared.get('opacity')) ||
    (overflowHidden && flat)
  ) {
    return { gone: true };
  }
  const font = declared.get('font-size') ?? shorthandSize(declared.get('font'));
  const visible = declared.get('visibility');
  return {
    gone: false,
    ...(font !== undefined && !isRelative(font) && { zeroFont: isZero(font) }),
    ...(visible !== undefined && { invisible: visible === 'hidden' || visible === 'collapse' }),
  };
}

/** The declarations of an inline style, names and values in lower case; the last one counts. */
export function styleOf(style: string): ReadonlyMap<string, string> {
  const declared = new Map<string, string>();
  for (const part of plainStyle(style).toLowerCase().split(';')) {
    const colon = part.indexOf(':');
    if (colon === -1) continue;
    const value = part.slice(colon + 1).trim();
    declared.set(part.slice(0, colon).trim(), value.replace('!important', '').trim());
  }
  return declared;
}

/** Without comments and escapes (CSS Syntax §4.3.2, §4.3.7), which a browser reads past. */
function plainStyle(style: string): string {
  if (!DISGUISED.test(style)) return style;
  const [first = '', ...others] = style.split('/*');
  const pieces = others.map((piece) => {
    const end = piece.indexOf('*/');
    return end === -1 ? '' : piece.slice(end + 2);
  });
  return [first, ...pieces]
    .join(' ')
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, code: string) => {
      const point = Number.parseInt(code, 16);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '';
    })
    .replaceAll('\\', '');
}

/** A length in these units follows the parent's; nothing times anything stays nothing. */
function isRelative(length: string): boolean {
  return /(?:%|(?<!r)em|ex|ch|larger|smaller|inherit)$/.test(length) && !isZero(length);
}

function isZero(value: string | undefined): boolean {
  return (
    value !== undefined &&
    /^[+-]?0{1,10}(?:\.0{0,10})?(?:[a-z]{1,4}|%)?$|^\.0{1,10}(?:[a-z]{1,4}|%)?$/.test(value)
  );
}

/** `font: 0/0 a`: newsletters hide their preview text so. */
function shorthandSize(font: string | undefined): string | undefined {
  return font === undefined ? undefined : /^([+.]?0[a-z0-9.%]{0,10})[\s/]/.exec(font)?.[1];
}
