import { InvalidArgumentError } from 'commander';
import { UsageError } from '../exit-codes.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/i;

/**
 * A point in time as the API takes it: ISO 8601, UTC. Without an offset it is in local time; a day
 * alone is its first millisecond.
 * @throws {InvalidArgumentError} it is no such thing
 */
export function instant(value: string): string {
  // JavaScript takes a day alone as UTC, and everything else without an offset as local.
  const text = DAY.test(value) ? `${value}T00:00` : DATE_TIME.test(value) ? value : '';
  const at = Date.parse(text.replace(' ', 'T'));
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new InvalidArgumentError(
    'Expected a day or a time such as 2026-04-30, 2026-04-30T14:00 (local) or 2026-04-30T12:00Z.',
  );
}

/** The same for the end of a span: a day alone is its last millisecond. */
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
 * `created_at__range` (API §8). `7d` is short for `relative:-7d,`; a span without an end is until
 * now. Anything else in `created` is the platform's to judge.
 * @throws {UsageError} both ways at once, or an end without a start
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

/** For people: the day and the minute in local time; what is no time as it came. */
export function localTime(value: string | null | undefined): string {
  if (!value) return '';
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return value;
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
