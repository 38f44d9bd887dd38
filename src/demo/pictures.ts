import { readFileSync } from 'node:fs';

export const COLOURS = ['navy', 'sand', 'moss'] as const;
export const VIEWS = ['side', 'pair', 'detail'] as const;
export type Colour = (typeof COLOURS)[number];
export type View = (typeof VIEWS)[number];

type ShoeColours = Readonly<
  Record<'upper' | 'shade' | 'light' | 'leather' | 'lining' | 'sole' | 'edge' | 'lace', string>
>;

/** For transparent pictures, which the page shows on its own background in both schemes. */
const PALETTES: Record<Colour, ShoeColours> = {
  navy: {
    ...{ upper: '#33507a', shade: '#22385a', light: '#8ba6cd', leather: '#8a5a3a' },
    ...{ lining: '#172741', sole: '#efe7d8', edge: '#b98f5f', lace: '#eadfc8' },
  },
  sand: {
    ...{ upper: '#d3b98f', shade: '#b3966a', light: '#f1e2c6', leather: '#7d5136' },
    ...{ lining: '#6d5638', sole: '#f4eee2', edge: '#a97d50', lace: '#f7efdd' },
  },
  moss: {
    ...{ upper: '#66764b', shade: '#485635', light: '#a9b78a', leather: '#84563a' },
    ...{ lining: '#2f3a22', sole: '#efe7d8', edge: '#b98f5f', lace: '#e9dec7' },
  },
};

const asset = (name: string): string =>
  readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');

/** A shoe from the side, its toe to the left, in a view box of 800 by 520. */
const SHOE = asset('shoe.svg');
const shoe = (colours: ShoeColours): string =>
  Object.entries(colours).reduce(
    (drawing, [part, colour]) => drawing.replaceAll(`{${part}}`, colour),
    SHOE,
  );

const svg = (viewBox: string, body: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${body}</svg>\n`;

const SHADOW = '<ellipse cx="404" cy="424" rx="322" ry="16" fill="#000" opacity=".13"/>';

const SCENES: Record<View, (colours: ShoeColours) => string> = {
  side: (colours) => svg('0 0 800 520', SHADOW + shoe(colours)),
  pair: (colours) =>
    svg(
      '0 0 800 520',
      `<g transform="translate(136 16) scale(.8)">${SHADOW}${shoe(colours)}</g>` +
        `<g transform="translate(664 126) scale(-.8 .8)">${SHADOW}${shoe(colours)}</g>`,
    ),
  detail: (colours) => svg('232 74 324 211', SHADOW + shoe(colours)),
};

/** Every picture of the page, by its file name. */
export const PICTURES: ReadonlyMap<string, string> = new Map([
  ...COLOURS.flatMap((colour) =>
    VIEWS.map((view) => [pictureName(colour, view), SCENES[view](PALETTES[colour])] as const),
  ),
  ['brand.svg', asset('brand.svg')],
]);

export function pictureName(colour: Colour, view: View): string {
  return `harbour-${colour}-${view}.svg`;
}
