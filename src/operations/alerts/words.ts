const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `3 days`, `1 hour`, `12 minutes`, `40 seconds`: the largest unit of which there is at least one. */
export function howLong(ms: number): string {
  if (ms >= DAY) return several(Math.floor(ms / DAY), 'day');
  if (ms >= HOUR) return several(Math.floor(ms / HOUR), 'hour');
  if (ms >= MINUTE) return several(Math.floor(ms / MINUTE), 'minute');
  return several(Math.floor(ms / SECOND), 'second');
}

export function several(count: number, what: string, many = `${what}s`): string {
  return `${count} ${count === 1 ? what : many}`;
}

export function size(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB`;
}

/** `2026-11-22 11:58 UTC` */
export const minute = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A day, as every time zone writes it the same. */
export const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
