import { cityShoe, trailBoot } from './other-shoes.ts';
import { harbourShoe, type ShoeColours } from './harbour-shoe.ts';
import { harbourSole } from './harbour-sole.ts';

export const COLOURS = ['navy', 'sand', 'moss'] as const;
export const VIEWS = ['side', 'pair', 'detail', 'sole'] as const;
export type Colour = (typeof COLOURS)[number];
export type View = (typeof VIEWS)[number];

/** The pictures lie on the page's own ground, in both schemes. */
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

const svg = (viewBox: string, body: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${body}</svg>\n`;

const SHADOW = '<ellipse cx="404" cy="424" rx="322" ry="16" fill="#000" opacity=".13"/>';

const SCENES: Record<View, (colours: ShoeColours) => string> = {
  side: (colours) => svg('0 0 800 520', SHADOW + harbourShoe(colours)),
  pair: (colours) =>
    svg(
      '0 0 800 520',
      `<g transform="translate(136 16) scale(.8)">${SHADOW}${harbourShoe(colours)}</g>` +
        `<g transform="translate(664 126) scale(-.8 .8)">${SHADOW}${harbourShoe(colours)}</g>`,
    ),
  detail: (colours) => svg('232 74 324 211', SHADOW + harbourShoe(colours)),
  sole: (colours) => svg('0 0 800 520', harbourSole(colours)),
};

const BRAND =
  '<rect width="64" height="64" rx="14" fill="#1f3a5f"/>' +
  '<path d="M22 14v36M43 16 24 33l19 17" fill="none" stroke="#f6f1e7" stroke-width="7" stroke-linecap="round" stroke-linejoin="round"/>';

/** Every picture of the page, by its file name. */
export const PICTURES: ReadonlyMap<string, string> = new Map([
  ...COLOURS.flatMap((colour) =>
    VIEWS.map((view) => [pictureName(colour, view), SCENES[view](PALETTES[colour])] as const),
  ),
  ['trail.svg', svg('0 0 800 520', SHADOW + trailBoot())],
  ['city.svg', svg('0 0 800 520', SHADOW + cityShoe())],
  ['brand.svg', svg('0 0 64 64', BRAND)],
]);

export function pictureName(colour: Colour, view: View): string {
  return `harbour-${colour}-${view}.svg`;
}
