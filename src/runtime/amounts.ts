const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A count with its noun: `1 entry`, `3 entries`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** `3 days`, `1 hour`, `12 minutes`, `40 seconds`: in the largest unit that fits at least once. */
export function durationInWords(ms: number): string {
  if (ms >= DAY) return counted(Math.floor(ms / DAY), 'day');
  if (ms >= HOUR) return counted(Math.floor(ms / HOUR), 'hour');
  if (ms >= MINUTE) return counted(Math.floor(ms / MINUTE), 'minute');
  return counted(Math.floor(ms / SECOND), 'second');
}

/** `71.2 GB` or `512 MB`, in the same form as the console. */
export function sizeInWords(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB`;
}

/** `2026-11-22 11:58 UTC` */
export const minuteInWords = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** `2026-11-22`, in UTC. */
export const dayInWords = (at: number): string => new Date(at).toISOString().slice(0, 10);
