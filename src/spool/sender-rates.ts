import type { ShopId } from '../domain/ids.ts';

/** How much one sender may send before it counts as a flood, or as a loop of two machines. */
export interface RateLimits {
  /** The maximum number of messages of one person. */
  readonly per10min: number;
  readonly perHour: number;
  readonly perDay?: number;
  /** The maximum number of messages of one thread. */
  readonly perThreadPer10min?: number;
  /** The number of messages with the same body at which the limit is reached. */
  readonly sameBodyPerHour: number;
}

export type RateLimit = keyof RateLimits;

/**
 * The name under which possibly forged mail is counted, separately from mail that is known to come
 * from this sender.
 */
export function countedWhenForged(person: string): string {
  return `forged ${person}`;
}

/** One message to count. Only hashes of the texts are stored. */
export interface CountedMessage {
  readonly shopId: ShopId;
  /** Identifies the message: one that is counted again counts once. */
  readonly message: string;
  /** The sender's address or number; the same for all messages of one sender. */
  readonly person: string;
  /** Absent on channels without threads. */
  readonly thread?: string;
  /** Absent when the body is too common to indicate a machine. */
  readonly body?: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
}

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** What a rule counts messages of. */
export type CountedBy = 'person' | 'thread' | 'body';

/**
 * In the order in which they are judged. SQLite stores the place of a rule in this list, so new rules are added
 * at the end. A message exceeds the first rule for which, with it, more messages than the limit arrived within
 * (its arrival − window, its arrival], among those that were counted before it.
 */
export const RULES: readonly {
  readonly limit: RateLimit;
  readonly by: CountedBy;
  readonly windowMs: number;
}[] = [
  { limit: 'perThreadPer10min', by: 'thread', windowMs: 10 * MINUTE_MS },
  { limit: 'sameBodyPerHour', by: 'body', windowMs: HOUR_MS },
  { limit: 'per10min', by: 'person', windowMs: 10 * MINUTE_MS },
  { limit: 'perHour', by: 'person', windowMs: HOUR_MS },
  { limit: 'perDay', by: 'person', windowMs: DAY_MS },
];

/** A rule with how many earlier messages within its window make the message exceed it. */
export type AppliedRule = (typeof RULES)[number] & {
  readonly place: number;
  readonly most: number;
};

/** A rule reads up to as many rows as its limit says. A higher limit is not applied. */
const HIGHEST_LIMIT = 100_000;

/** The rules that apply to a message. */
export function rulesFor(sent: CountedMessage, limits: RateLimits): readonly AppliedRule[] {
  return RULES.flatMap((rule, place) => {
    const limit = limits[rule.limit];
    if (limit === undefined || limit > HIGHEST_LIMIT || sent[rule.by] === undefined) return [];
    // "More than 10" looks for ten earlier ones; "three times the same" for two.
    return [{ ...rule, place, most: rule.limit === 'sameBodyPerHour' ? limit - 1 : limit }];
  });
}

/**
 * How long a message counts after its arrival: longer than any window, for messages that an outage of the
 * platform delayed. Of later ones the two stores may judge differently: with a daily limit, SQLite deletes what
 * the other rules count after KEPT_MS, and PostgreSQL keeps one row for all rules.
 */
export const keptMs = ({ perDay }: Pick<RateLimits, 'perDay'>): number =>
  perDay === undefined ? KEPT_MS : KEPT_DAY_MS;
export const KEPT_MS = 3 * HOUR_MS;
export const KEPT_DAY_MS = 2 * DAY_MS;
