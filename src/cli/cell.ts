import { printable, type Terminal } from './terminal.ts';
import type { EntryState } from '../domain/entry-state.ts';

/** The codes that begin and end a colour (ECMA-48 §8.3.117). */
const COLOURS = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
} as const;
export type Colour = keyof typeof COLOURS;

/** No column is this wide, but a text may be a thousand times longer. */
const CELL_MAX_CHARS = 400;

const hasColours = ({ columns, env }: Terminal): boolean =>
  columns !== undefined && !env['NO_COLOR'] && env['TERM'] !== 'dumb';

/** Colours a text on a terminal; elsewhere returns it unchanged. */
export function paintFor(terminal: Terminal): (text: string, colour: Colour | undefined) => string {
  if (!hasColours(terminal)) return (text) => text;
  return (text, colour) => {
    if (colour === undefined) return text;
    const [begin, end] = COLOURS[colour];
    return `\u001b[${begin}m${text}\u001b[${end}m`;
  };
}

/** A text on one line, safe for a terminal. */
export function oneLine(text: string): string {
  return printable(text.slice(0, CELL_MAX_CHARS).replace(/\s+/g, ' ')).trim();
}

export const STATE_COLOURS: Readonly<Record<EntryState, Colour | undefined>> = {
  queued: 'cyan',
  delivering: 'cyan',
  delivered: 'green',
  dead: 'red',
  held: 'yellow',
  suppressed: 'dim',
  discarded: 'dim',
};
