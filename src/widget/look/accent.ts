/** A colour in sRGB, 0 to 255. */
type Rgb = readonly [number, number, number];

export type Scheme = 'light' | 'dark';

/**
 * CSS colours of one scheme. `fill`: buttons and the visitor's own lines; `on`: text on `fill`, at
 * least 4.5:1; `ink`: links and focus rings on the panel and on a bubble, at least 4.5:1.
 */
export type Accent = Readonly<Record<'fill' | 'on' | 'ink', string>>;

const DEFAULT: Rgb = [59, 91, 219];
/** WCAG 2.2 §1.4.3. */
const TEXT_CONTRAST = 4.5;
/** Of a fill against the surface around it, so that a button's shape can be seen. */
const FILL_CONTRAST = 1.3;
const STEP = 0.04;

/** `#rrggbb`. */
function parseHex(text: string): Rgb | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(text)) return undefined;
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** WCAG's relative luminance, 0 to 1. */
function luminance(color: Rgb): number {
  const [r, g, b] = color.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG's contrast ratio of two luminances, 1 to 21. */
const contrast = (a: number, b: number): number =>
  (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

/**
 * Mixes `color` with black (0) or white (255), as little as possible, until it has the contrast
 * `ratio`.
 */
function fitted(color: Rgb, towards: number, surface: number, ratio: number): Rgb {
  for (let share = 0; ; share += STEP) {
    const mixed = color.map((c) => Math.round(c + (towards - c) * share)) as unknown as Rgb;
    if (share >= 1 || contrast(luminance(mixed), surface) >= ratio) return mixed;
  }
}

const css = (color: Rgb): string => `rgb(${color.join()})`;

/**
 * Adapts a brand colour to a scheme, so that text on it and text in it are legible, whatever colour
 * a shop has chosen.
 * @param color `#rrggbb`; anything else gives the widget's own accent
 */
export function accentOf(color: string | undefined, scheme: Scheme): Accent {
  const brand = parseHex(color ?? '') ?? DEFAULT;
  // The luminances of `--bg` and of `--raised`, on which text has less contrast.
  const [towards, panel, raised] = scheme === 'light' ? [0, 1, 0.896] : [255, 0.0112, 0.0229];
  const fill = fitted(brand, towards, panel, FILL_CONTRAST);
  // White is preferred on brand colours; either white or black always reaches 4.5:1.
  const isDark = contrast(1, luminance(fill)) >= TEXT_CONTRAST;
  return {
    fill: css(fill),
    on: isDark ? '#fff' : '#000',
    ink: css(fitted(brand, towards, raised, TEXT_CONTRAST)),
  };
}
