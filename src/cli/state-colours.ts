import type { EntryState } from '../domain/entry-state.ts';
import type { Colour } from './cell.ts';

export const STATE_COLOURS: Readonly<Record<EntryState, Colour | undefined>> = {
  queued: 'cyan',
  delivering: 'cyan',
  delivered: 'green',
  dead: 'red',
  held: 'yellow',
  suppressed: 'dim',
  discarded: 'dim',
};
