import type { ShoeColours } from './harbour-shoe.ts';

/** The outline of a left sole, its toe to the left, and the same mirrored for the right one. */
const OUTLINE =
  'M70 0C70 -62 130 -92 214 -88C300 -84 352 -58 428 -58C500 -58 566 -76 620 -54C664 -34 672 34 626 56C572 82 500 62 430 66C350 70 300 96 214 92C130 88 70 60 70 0Z';

/** Both soles from below, on a field of 800 by 520. */
export function harbourSole({ edge, shade, leather }: ShoeColours): string {
  const foot = `
    <path d="${OUTLINE}" fill="${edge}"/>
    <path d="${OUTLINE}" fill="none" stroke="${leather}" stroke-width="3" stroke-dasharray="9 7" transform="translate(26 0) scale(.93 .86)"/>
    <g fill="none" stroke="${shade}" stroke-width="7" stroke-linecap="round" opacity=".42">${waves()}</g>
    <ellipse cx="392" cy="4" rx="42" ry="22" fill="${leather}"/>
    <path d="M382 -8v24M402 -8 386 4l16 12" fill="none" stroke="${edge}" stroke-width="5" stroke-linecap="round" stroke-linejoin="round"/>`;
  return (
    `<g transform="translate(32 158)">${foot}</g>` +
    `<g transform="translate(62 366) scale(1 -1)">${foot}</g>`
  );
}

function waves(): string {
  const columns = [112, 142, 172, 202, 232, 262, 292, 478, 508, 538, 568, 598];
  return columns
    .map((x) => {
      const reach = x < 130 ? 34 : x < 300 ? 60 : x < 590 ? 40 : 28;
      const bend = 12;
      return `<path d="M${x} ${-reach}q${bend} ${reach / 2} 0 ${reach}t0 ${reach}"/>`;
    })
    .join('');
}
