import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../config/duration.ts';

/** A point in time as typed: relative to now, or fixed. */
export type Moment = (now: number) => number;

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** `2h`, `7d`, `2026-11-21`, `2026-11-21T10:00Z`; UTC if there is no zone, like all times shown. */
export function moment(value: string): Moment {
  const ago = parseDuration(value);
  if (ago !== undefined) return (now) => now - ago;
  const zoned = /[T ]/.test(value) && !/(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? `${value}Z` : value;
  const at = ISO.test(value) ? Date.parse(zoned.replace(' ', 'T')) : NaN;
  if (Number.isNaN(at) || !isDay(value.slice(0, 10))) {
    throw new InvalidArgumentError(
      'Expected a duration such as 2h or 7d, or a time such as 2026-11-21T10:00Z.',
    );
  }
  return () => at;
}

/** `Date.parse` reads 30 February as 2 March. */
function isDay(date: string): boolean {
  const at = Date.parse(date);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
}

/** The milliseconds of `2s`, at least 250. */
export function interval(value: string): number {
  const every = parseDuration(value);
  if (every === undefined || every < 250) {
    throw new InvalidArgumentError('Expected a duration such as 2s, at least 250ms.');
  }
  return every;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A time span for people in its largest unit: `3d`, `5h`, `12m`, `40s`, `0s`. */
export function shortSpan(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

/** A duration for people: `12 ms`, `1.25 s`, `3 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function longSpan(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(2))} s`;
  if (ms < 3_600_000) return twoUnits(ms, [60_000, 'min'], [1000, 's']);
  if (ms < 86_400_000) return twoUnits(ms, [3_600_000, 'h'], [60_000, 'min']);
  return twoUnits(ms, [86_400_000, 'd'], [3_600_000, 'h']);
}

type Unit = readonly [size: number, name: string];

function twoUnits(ms: number, [large, most]: Unit, [small, least]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${most}${rest === 0 ? '' : ` ${rest} ${least}`}`;
}
