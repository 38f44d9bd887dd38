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

/** The reverse of `noteOf`; undefined for anything else. */
export function readPlace(note = ''): Place | undefined {
  const [visitorId = '', ...numbers] = note.split(' ');
  const [seq = NaN, px = NaN, last = NaN] = numbers.map(Number);
  return Number.isFinite(seq + px + last) ? { visitorId, seq, px, last } : undefined;
}

export const noteOf = (place: Place | undefined): string =>
  place ? [place.visitorId, place.seq, place.px, place.last].join(' ') : '';

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
