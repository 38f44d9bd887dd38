import type { EntryCount } from '../spool/spool.ts';
import { iso } from './queue-entry.ts';
import { shortSpan } from './time-argument.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The ages at which one bucket ends and the next begins, the youngest first; the last is open. */
export const AGE_BOUNDS: readonly number[] = [
  MINUTE,
  5 * MINUTE,
  20 * MINUTE,
  HOUR,
  4 * HOUR,
  DAY,
  7 * DAY,
];

/** `<1m <5m <20m <1h <4h <1d <7d older` */
export const BUCKET_NAMES: readonly string[] = [
  ...AGE_BOUNDS.map((bound) => `<${shortSpan(bound)}`),
  'older',
];

/** The `receivedAt` of each bucket, from inclusive and to exclusive, as of a moment. */
export function buckets(now: number): readonly { readonly from?: number; readonly to?: number }[] {
  const starts = AGE_BOUNDS.map((bound) => now - bound);
  return [...starts, undefined].map((from, at) => {
    const to = at === 0 ? undefined : starts[at - 1];
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  });
}

/** Entries of one shop, channel and state by their age. */
export interface Ages extends EntryCount {
  /** One for each of `BUCKET_NAMES`. */
  readonly byAge: readonly number[];
  /** When the first of those that wait may be tried; absent when none waits. */
  readonly dueAt?: number;
}

export function agesJson(ages: Ages, shop: string): Record<string, unknown> {
  const { shopId, channel, state, count, oldestAt, byAge, dueAt } = ages;
  return {
    shop,
    shopId,
    channel,
    state,
    count,
    oldestAt: iso(oldestAt),
    ...(dueAt !== undefined && { dueAt: iso(dueAt) }),
    byAge: Object.fromEntries(BUCKET_NAMES.map((name, at) => [name, byAge[at] ?? 0])),
  };
}
