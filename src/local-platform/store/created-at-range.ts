import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { DECISIONS } from '../decisions.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const dateTime = z.iso.datetime({ offset: true });

/**
 * The window of `created_at__range` (API §8): `relative:-7d,` for the last 7 days, or a start and
 * an end as ISO 8601 date-times, both inclusive. At most 30 days.
 * @throws {ApiError} 400
 */
export function createdAtRange(text: string, nowMs: number): { from: string; to: string } {
  const [start = '', end = '', ...rest] = text.split(',').map((part) => part.trim());
  if (rest.length > 0 || !text.includes(',')) throw invalid('expected two comma-separated ends');
  const relative = /^relative:-(\d{1,6})([smhdw])$/.exec(start);
  const [from, to] = relative
    ? [nowMs - relativeMs(relative), end === '' ? nowMs : NaN]
    : [parse(start), parse(end)];
  if (Number.isNaN(from) || Number.isNaN(to)) {
    throw invalid(
      'expected "relative:-7d," or two ISO 8601 date-times with Z or an offset, whose + is %2B in a URL',
    );
  }
  if (from > to) throw invalid('the start is after the end');
  if (to - from > DECISIONS.rangeMaxMs) throw invalid('the maximum window is 30 days');
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function relativeMs([, amount = '', unit = '']: RegExpExecArray): number {
  // The pattern admits these units only.
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

const parse = (text: string) => (dateTime.safeParse(text).success ? Date.parse(text) : NaN);

const invalid = (reason: string) =>
  new ApiError(400, 'the request is not valid', { created_at__range: reason });
