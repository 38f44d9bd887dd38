import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../config/duration.ts';
import { isBaseUrl } from '../../platform-api/addresses.ts';
import { UsageError } from '../exit-codes.ts';

/** Parsers for option values; each throws `InvalidArgumentError` before any request is made. */

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function uuid(value: string): string {
  if (UUID.test(value)) return value;
  throw new InvalidArgumentError(
    'Expected a UUID such as 0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11, as lists show it.',
  );
}

export const uuids = (value: string): readonly string[] => parts(value).map(uuid);

export const words = (value: string): readonly string[] => parts(value);

function integer(value: string): number {
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Expected a whole number.');
}

export const integers = (value: string): readonly number[] => parts(value).map(integer);

/** A whole number of at least 1. */
export function wholeNumber(most = Infinity, what = 'whole number'): (value: string) => number {
  const range = most === Infinity ? 'of at least 1' : `from 1 to ${most}`;
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    if (number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(`Expected a ${what} ${range}.`);
  };
}

export function bool(value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new InvalidArgumentError('Expected true or false.');
}

/** Milliseconds; zero is a mistake rather than no timeout. */
export function timeout(value: string): number {
  const duration = parseDuration(value);
  if (duration !== undefined && duration > 0) return duration;
  throw new InvalidArgumentError('Expected a duration such as 30s or 2m.');
}

export function httpUrl(value: string): string {
  if (isBaseUrl(value)) return value;
  throw new InvalidArgumentError('Expected a URL such as http://127.0.0.1:8082.');
}

export interface Mailbox {
  readonly email: string;
  readonly name?: string;
}

/** `ann@example.com` or `Ann Lee <ann@example.com>`, added to the earlier values. */
export function mailbox(value: string, before: readonly Mailbox[] = []): readonly Mailbox[] {
  const [, name = '', bracketed] = /^([^<>]*)<([^<>]*)>\s*$/.exec(value) ?? [];
  const email = bracketed ?? value.trim();
  if (/[\s<>]/.test(email) || !/.@./.test(email)) {
    throw new InvalidArgumentError('Expected an address such as "Ann Lee <ann@example.com>".');
  }
  const shown = name.trim().replace(/^"(.*)"$/, '$1');
  return [...before, { email, ...(shown !== '' && { name: shown }) }];
}

/** `name=value`, added to the earlier values. */
export function property(
  value: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}

export interface Metric {
  readonly metric_name: string;
  readonly value?: number;
}

/** `name=number`, or a name alone. */
export function metric(value: string): Metric {
  const [, name, amount] = /^([^=]+)(?:=(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))?$/.exec(value) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected name or name=number.');
  return { metric_name: name, ...(amount !== undefined && { value: Number(amount) }) };
}

function parts(value: string): string[] {
  const list = value.split(',').map((part) => part.trim());
  if (list.every((part) => part !== '')) return list;
  throw new InvalidArgumentError('Expected values separated by commas.');
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/i;

/**
 * A point in time in the API's form: ISO 8601, UTC. Without an offset, it is local time; a day
 * alone is its first millisecond.
 * @throws {InvalidArgumentError} it has another form
 */
export function instant(value: string): string {
  // JavaScript reads a day alone as UTC, and other forms without an offset as local time.
  const text = DAY.test(value) ? `${value}T00:00` : DATE_TIME.test(value) ? value : '';
  const at = Date.parse(text.replace(' ', 'T'));
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new InvalidArgumentError(
    'Expected a day or a time such as 2026-04-30, 2026-04-30T14:00 (local) or 2026-04-30T12:00Z.',
  );
}

/** The same for the end of a range: a day alone is its last millisecond. */
export function endOf(value: string): string {
  const at = instant(value);
  if (!DAY.test(value)) return at;
  const next = new Date(at);
  next.setDate(next.getDate() + 1);
  return new Date(next.getTime() - 1).toISOString();
}

export interface CreatedOptions {
  readonly created?: string;
  readonly createdFrom?: string;
  readonly createdTo?: string;
}

/**
 * `created_at__range` (API §8). `7d` is short for `relative:-7d,`; a range without an end extends
 * to now. The platform validates other values of `created`.
 * @throws {UsageError} both forms at once, or an end without a start
 */
export function createdRange(options: CreatedOptions, nowMs: number): string | undefined {
  const { created, createdFrom: from, createdTo: to } = options;
  if (created !== undefined) {
    if (from === undefined && to === undefined) return created.replace(/^\d+d$/, 'relative:-$&,');
    throw new UsageError('give --created, or --created-from and --created-to');
  }
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined) throw new UsageError('--created-to needs --created-from');
  return `${from},${to ?? new Date(nowMs).toISOString()}`;
}

/**
 * For people: the day and minute in local time; a value that is not a time is returned unchanged.
 */
export function localTime(value: string | null | undefined): string {
  if (!value) return '';
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return value;
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
