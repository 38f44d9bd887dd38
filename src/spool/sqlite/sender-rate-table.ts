import type { Clock } from '../../runtime/clock.ts';
import type { CountedMessage, RateLimit, RateLimits } from '../sender-rates.ts';
import { rateHash } from '../hashes.ts';
import type { Db } from './database.ts';

const MINUTE = 60_000;
export const HOUR_MS = 60 * MINUTE;
export const DAY_MS = 24 * HOUR_MS;
/** Longer than any window except the day's, for messages that an outage of the platform delayed. */
export const KEPT_MS = 3 * HOUR_MS;
const ROWS_PER_CALL = 2000;

const KEYS = ['person', 'thread', 'body', 'day'] as const;
type SeriesKey = (typeof KEYS)[number];

interface Rule {
  readonly limit: RateLimit;
  readonly key: SeriesKey;
  readonly windowMs: number;
}

/** A message's row stores the index of its rule in this list, so new rules are added at the end. */
export const RULES: readonly Rule[] = [
  { limit: 'perThreadPer10min', key: 'thread', windowMs: 10 * MINUTE },
  { limit: 'sameBodyPerHour', key: 'body', windowMs: HOUR_MS },
  { limit: 'per10min', key: 'person', windowMs: 10 * MINUTE },
  { limit: 'perHour', key: 'person', windowMs: HOUR_MS },
  { limit: 'perDay', key: 'day', windowMs: DAY_MS },
];

/**
 * Counts how many messages a person sent recently. Each message has a number in each of its series
 * (of the person, of a thread, of a body). There were more than N in a window if the message N
 * numbers before is within it, so a lookup costs the same for any number of messages.
 *
 * All rows of a person are adjacent, under the hour of arrival: a message changes one page, and old
 * rows are deleted from the start of the table. The daily series, which only channels with a daily
 * limit have, is stored under the last hour of the next day, so that it is kept as long as its
 * window needs it and deleted soon after.
 */
export class SenderRateTable {
  readonly #clock: Clock;
  readonly #sql;

  constructor(db: Db, clock: Clock) {
    this.#clock = clock;
    this.#sql = prepare(db);
  }

  /** Counts a message unless it was counted before. Returns the limit that it exceeds. */
  countMessage(sent: CountedMessage, limits: RateLimits): RateLimit | undefined {
    const hour = Math.floor(sent.at / HOUR_MS);
    const person = rateHash(sent.shopId, 'person', sent.person);
    const message = rateHash(sent.shopId, 'message', sent.message);
    const counted = this.#sql.at.get({ hour, person, series: message, no: 0 });
    if (counted !== undefined) return RULES[counted.at]?.limit;

    const series = seriesOf(sent, person, limits);
    const numbers = new Map<SeriesKey, number>();
    for (const [key, one] of series) {
      const no = this.#next(one);
      numbers.set(key, no);
      this.#sql.add.run({ ...one, no, at: sent.at });
    }
    const over = RULES.findIndex(({ limit, key, windowMs }) => {
      const [atMost, one, no] = [limits[limit], series.get(key), numbers.get(key)];
      if (atMost === undefined || one === undefined || no === undefined) return false;
      // "More than 10" checks the message ten numbers before; "three times" the one two before.
      const earlierNo = no - (limit === 'sameBodyPerHour' ? atMost - 1 : atMost);
      const earlier = earlierNo < 1 ? undefined : this.#latest(one, earlierNo);
      return earlier !== undefined && earlier > sent.at - windowMs;
    });
    this.#sql.add.run({ hour, person, series: message, no: 0, at: over });
    return RULES[over]?.limit;
  }

  #next(series: Series): number {
    const last = this.#sql.last.get(series) ?? this.#sql.last.get(before(series));
    return (last?.no ?? 0) + 1;
  }

  #latest(series: Series, no: number): number | undefined {
    const row = this.#sql.at.get({ ...series, no }) ?? this.#sql.at.get({ ...before(series), no });
    return row?.at;
  }

  /** Deletes some of the rows that are too old to count. True: there may be more. */
  sweepSenderRates(): boolean {
    const before = Math.floor((this.#clock() - KEPT_MS) / HOUR_MS);
    return this.#sql.sweep.run({ before }).changes === ROWS_PER_CALL;
  }
}

interface Series {
  readonly hour: number;
  readonly person: number;
  readonly series: number;
  /** How many hours earlier the previous part of the series is stored. */
  readonly hours: number;
}

const before = (series: Series): Series => ({ ...series, hour: series.hour - series.hours });

/** All series except these two are identified by a hash. */
const OF_THE_PERSON = 0;
const OF_THE_DAY = 1;

/** The series that a message is counted in. */
function seriesOf(
  { shopId, thread, body, at }: CountedMessage,
  person: number,
  { perDay }: RateLimits,
): ReadonlyMap<SeriesKey, Series> {
  const hour = Math.floor(at / HOUR_MS);
  const hourly = (series: number): Series => ({ hour, person, series, hours: 1 });
  const endOfNextDay = (Math.floor(at / DAY_MS) + 2) * (DAY_MS / HOUR_MS) - 1;
  const found: Readonly<Record<SeriesKey, Series | undefined>> = {
    person: hourly(OF_THE_PERSON),
    thread: thread === undefined ? undefined : hourly(rateHash(shopId, 'thread', thread)),
    body: body === undefined ? undefined : hourly(rateHash(shopId, 'body', body)),
    day:
      perDay === undefined
        ? undefined
        : { hour: endOfNextDay, person, series: OF_THE_DAY, hours: DAY_MS / HOUR_MS },
  };
  return new Map(
    KEYS.flatMap((key): [SeriesKey, Series][] => {
      const series = found[key];
      return series === undefined ? [] : [[key, series]];
    }),
  );
}

type Place = Pick<Series, 'hour' | 'person' | 'series'>;

function prepare(db: Db) {
  return {
    at: db.prepare<[Place & { no: number }], { at: number }>(
      `SELECT at FROM mail_rates
       WHERE hour = @hour AND person = @person AND series = @series AND no = @no`,
    ),
    last: db.prepare<[Place], { no: number }>(
      `SELECT no FROM mail_rates WHERE hour = @hour AND person = @person AND series = @series
       ORDER BY no DESC LIMIT 1`,
    ),
    add: db.prepare(
      `INSERT INTO mail_rates (hour, person, series, no, at)
       VALUES (@hour, @person, @series, @no, @at)`,
    ),
    sweep: db.prepare(
      `DELETE FROM mail_rates WHERE (hour, person, series, no) IN (
         SELECT hour, person, series, no FROM mail_rates WHERE hour < @before
         ORDER BY hour, person, series, no LIMIT ${ROWS_PER_CALL})`,
    ),
  };
}
