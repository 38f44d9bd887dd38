import { asIs, parsed } from '../storage.ts';

/** Where a visitor reads in the log, above its end. */
export interface Place {
  readonly visitorId: string;
  /** The number of the line that stays where it is. */
  readonly seq: number;
  /** How far above the visible part it begins. */
  readonly px: number;
  /** The highest number of a line when the end was left. */
  readonly last: number;
}

/** Undefined unless `note` has the form of `noteOf`: any script of the page can write it. */
export function readPlace(note?: string): Place | undefined {
  const place = (parsed(note) ?? {}) as Partial<Place>;
  const { visitorId = '', seq = NaN, px = NaN, last = NaN } = place;
  // False when one of them is NaN.
  return seq + px + last < Infinity ? { visitorId, seq, px, last } : undefined;
}

export const noteOf = (place: Place | undefined): string =>
  place ? JSON.stringify(place, asIs) : '';

/** The numbered lines that are drawn, and how many pixels above the visible part each begins. */
export const numberedIn = (log: HTMLElement) =>
  [...log.querySelectorAll<HTMLElement>('[data-seq]')].map(({ dataset, offsetTop }) => ({
    seq: Number(dataset['seq']),
    px: log.scrollTop - offsetTop,
  }));

/** The first line that begins in the visible part of the log, else the one before that part. */
export function lineInView(log: HTMLElement) {
  const lines = numberedIn(log);
  return (
    lines.find(({ px }) => px <= 0 && -px < log.clientHeight) ?? lines.findLast(({ px }) => px > 0)
  );
}
