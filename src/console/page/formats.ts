import type { Channel, EntryState } from '../contract.ts';
import { isUtc } from './zone.ts';

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  email: 'Email',
  sms: 'SMS',
  web_chat: 'Web chat',
};

export const STATE_NAMES: Readonly<Record<EntryState, string>> = {
  queued: 'Queued',
  delivering: 'Delivering',
  delivered: 'Delivered',
  dead: 'Dead',
  held: 'Held',
  suppressed: 'Suppressed',
  discarded: 'Discarded',
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in its largest unit: `850 ms`, `4.2 s`, `3 min`, `5 h`, `2 d`. */
export function duration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < SECOND) return `${Math.round(length)} ms`;
  if (length < 10 * SECOND) return `${(length / SECOND).toFixed(1)} s`;
  return span(length);
}

/** A duration in whole units of at least a second, for ages that are updated every second. */
export function span(ms: number): string {
  const length = Math.max(0, ms);
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} min`;
  if (length < 2 * DAY) return `${Math.floor(length / HOUR)} h`;
  return `${Math.floor(length / DAY)} d`;
}

/** `12 s ago`, `in 5 min`, `just now`, `now`. */
export function relative(at: number, now: number): string {
  const distance = now - at;
  if (Math.abs(distance) < 2 * SECOND) return distance < 0 ? 'now' : 'just now';
  return distance > 0 ? `${span(distance)} ago` : `in ${span(-distance)}`;
}

/** When something is to happen: `in 5 min`, or `now` once its time has come. */
export const due = (at: number, now: number): string => (at < now ? 'now' : relative(at, now));

/** Formats times in the shown zone. */
function timeFormat(options: Intl.DateTimeFormatOptions): (at: number) => string {
  const local = new Intl.DateTimeFormat(undefined, options);
  const utc = new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' });
  return (at) => (isUtc.value ? utc : local).format(at);
}

/** Date and time to the second, with the zone. */
export const exact = timeFormat({
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
});
/** The same without the zone, where many times are below each other. */
export const dateTime = timeFormat({ dateStyle: 'medium', timeStyle: 'medium' });
export const clock = timeFormat({ timeStyle: 'medium' });

const numberFormat = new Intl.NumberFormat('en');
export const count = (value: number): string => numberFormat.format(value);

const rateFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
export const rate = (perMinute: number): string => rateFormat.format(perMinute);

/** The beginning of an id, which the commands take in its place. */
export const shortId = (id: string): string => `${id.slice(0, 13)}…`;

/** `1 message`, `3 messages`. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;
/** `12.3 GB`, in decimal units. */
export function bytes(size: number): string {
  let value = size;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

/** The parts that apply; the others are `false` or undefined. */
export const listed = (...parts: readonly (string | false | undefined)[]): readonly string[] =>
  parts.filter((part) => typeof part === 'string');

/** The value of a key that is data, and so must not match inherited properties. */
export const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
