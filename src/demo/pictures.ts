export const COLOURS = ['navy', 'sand', 'moss'] as const;
export const VIEWS = ['side', 'pair', 'detail'] as const;
export type Colour = (typeof COLOURS)[number];
export type View = (typeof VIEWS)[number];

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
};

const BRAND =
  '<rect width="64" height="64" rx="14" fill="#1f3a5f"/>' +
  '<path d="M22 14v36M43 16 24 33l19 17" fill="none" stroke="#f6f1e7" stroke-width="7" stroke-linecap="round" stroke-linejoin="round"/>';

/** The colours of one drawing. */
interface ShoeColours {
  readonly upper: string;
  readonly shade: string;
  readonly light: string;
  readonly leather: string;
  readonly lining: string;
  readonly sole: string;
  readonly edge: string;
  readonly lace: string;
}

const UPPER =
  'M108 366C98 330 114 304 160 290C226 270 288 242 334 204C356 186 372 164 388 142C404 130 424 132 438 146C462 168 500 178 544 172C580 167 606 154 628 132C642 122 668 122 678 138C676 190 686 244 700 300C706 326 708 346 707 368Z';
const SOLE =
  'M98 360C92 372 92 388 102 400C110 410 126 414 148 414L664 414C692 414 708 404 712 386C715 374 714 362 708 352C600 368 500 366 420 368C310 371 190 376 98 360Z';

/** A low shoe from the side, its toe to the left, on a field of 800 by 520. */
function harbourShoe(colours: ShoeColours): string {
  const { upper, shade, light, leather, lining, sole, edge, lace } = colours;
  const stitch = `fill="none" stroke="${light}" stroke-width="2" stroke-dasharray="6 5" stroke-linecap="round" opacity=".75"`;
  return `
  <path d="M402 176C418 128 440 100 462 92C474 90 480 98 478 110C472 138 470 160 474 180Z" fill="${shade}"/>
  <path d="M438 150C470 132 590 120 640 128C600 176 500 186 438 150Z" fill="${lining}"/>
  <path d="${UPPER}" fill="${upper}"/>
  <path d="M108 366C98 330 114 304 160 290C214 274 262 254 304 228C286 300 320 352 420 366Z" fill="${light}" opacity=".14"/>
  <path d="M416 366C520 352 620 342 703 322C706 340 708 352 707 368Z" fill="${shade}" opacity=".55"/>
  <path d="M108 366C98 330 114 304 160 290C176 286 190 281 206 276C238 296 252 330 252 368C200 372 150 372 108 366Z" fill="${shade}" opacity=".5"/>
  <path d="M206 276C238 296 252 330 252 368" ${stitch}/>
  <path d="M218 272C250 292 264 328 264 368" ${stitch}/>
  <path d="M292 240C344 214 372 176 388 142C404 130 424 132 438 146C452 160 470 168 490 172C462 214 424 252 372 286C342 304 306 284 292 240Z" fill="${leather}"/>
  <path d="M303 244C350 220 382 180 398 148M478 178C452 214 414 248 366 276C344 288 318 276 304 248" ${stitch}/>
  <path d="M628 132C642 122 668 122 678 138C676 190 686 244 700 300C706 326 708 346 707 368L622 368C596 300 590 210 606 150C614 145 621 139 628 132Z" fill="${leather}"/>
  <path d="M616 146C602 210 606 296 632 366" ${stitch}/>
  <path d="M642 126C656 108 676 106 684 122C690 136 688 160 684 176L672 172C676 152 674 140 660 138Z" fill="${leather}"/>
  <path d="M490 172C520 176 572 170 606 150" fill="none" stroke="${light}" stroke-width="4" opacity=".5"/>
  ${laces(lace, shade)}
  <path d="${SOLE}" fill="${sole}"/>
  <path d="M104 372C190 388 310 383 420 380C500 378 600 380 711 364" fill="none" stroke="${edge}" stroke-width="2.5" stroke-dasharray="8 6" opacity=".6"/>
  <path d="M96 394C100 406 112 420 148 420L664 420C696 420 710 408 713 390C706 398 690 402 664 402L148 402C122 402 104 402 96 394Z" fill="${edge}"/>`;
}

/** Five bars across the throat; each ends in an eyelet. */
function laces(lace: string, shade: string): string {
  const rows = [
    [322, 226, 352, 262],
    [344, 208, 376, 246],
    [364, 188, 400, 228],
    [382, 166, 424, 206],
    [398, 144, 446, 184],
  ] as const;
  const bars = rows.map(
    ([x1, y1, x2, y2]) =>
      `<path d="M${x1} ${y1}Q${(x1 + x2) / 2 + 8} ${(y1 + y2) / 2 - 8} ${x2} ${y2}" fill="none" stroke="${lace}" stroke-width="9" stroke-linecap="round"/>` +
      `<circle cx="${x2}" cy="${y2}" r="6" fill="${shade}"/>`,
  );
  const bow =
    `<path d="M404 140C380 108 340 104 336 122C334 138 372 146 404 140C420 108 446 92 458 104C466 118 436 138 404 140" fill="none" stroke="${lace}" stroke-width="8" stroke-linejoin="round"/>` +
    `<path d="M404 140C400 168 384 188 360 196M404 140C424 156 446 160 470 154" fill="none" stroke="${lace}" stroke-width="7" stroke-linecap="round"/>`;
  return bars.join('') + bow;
}

/** Every picture of the page, by its file name. */
export const PICTURES: ReadonlyMap<string, string> = new Map([
  ...COLOURS.flatMap((colour) =>
    VIEWS.map((view) => [pictureName(colour, view), SCENES[view](PALETTES[colour])] as const),
  ),
  ['brand.svg', svg('0 0 64 64', BRAND)],
]);

export function pictureName(colour: Colour, view: View): string {
  return `harbour-${colour}-${view}.svg`;
}
