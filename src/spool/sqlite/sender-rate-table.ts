import {
  type CountedBy,
  type CountedMessage,
  type RateLimit,
  type RateLimits,
  DAY_MS,
  HOUR_MS,
  KEPT_MS,
  RULES,
  rulesFor,
} from '../sender-rates.ts';
import { rateHash } from '../hashes.ts';
import type { StoreContext } from './context.ts';
import type { Db } from './database.ts';

const ROWS_PER_CALL = 2000;

/**
 * `series` is four times a hash, and one of these: the hash of a thread, a body or, for a verdict, a message; 0 for
 * the person's own series.
 */
export const SERIES = { person: 0, verdict: 0, day: 1, thread: 2, body: 3 } as const;

/**
 * Counts how many messages a person sent recently. A message has a row in each of its series: of the
 * person, of the person's days, of a thread, of a body. A lookup reads as many rows as the limit allows.
 *
 * All rows of a person are adjacent, under the hour of arrival: a message changes one page, and old
 * rows are deleted from the start of the table. Where there is a daily limit, the series of the days and the
 * verdicts are stored under the last hour of the next day, so that they are kept as long as its
 * window needs them and deleted soon after.
 */
export class SenderRateTable {
  readonly #context: StoreContext;
  readonly #sql;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#sql = prepare(context.db);
  }

  /** Counts a message unless it was counted before. Returns the limit that it exceeds. */
  countMessage(sent: CountedMessage, limits: RateLimits): RateLimit | undefined {
    const { shopId, at, thread, body } = sent;
    const hour = Math.floor(at / HOUR_MS);
    const endOfNextDay = (Math.floor(at / DAY_MS) + 2) * 24 - 1;
    const person = rateHash(shopId, 'person', sent.person);
    const message = rateHash(shopId, 'message', sent.message);
    const isDaily = limits.perDay !== undefined;
    const verdict = { person, series: 4 * message + SERIES.verdict };
    const counted = this.#sql.verdict.get({ ...verdict, hour, day: endOfNextDay });
    if (counted !== undefined) return RULES[counted.place]?.limit;

    const of = (by: CountedBy, text: string | undefined) =>
      text === undefined ? undefined : 4 * rateHash(shopId, by, text) + SERIES[by];
    const series = { person: SERIES.person, thread: of('thread', thread), body: of('body', body) };
    const over = rulesFor(sent, limits).find(({ limit, by, windowMs, most }) => {
      const where =
        limit === 'perDay'
          ? { hour: endOfNextDay, before: endOfNextDay - 24, series: SERIES.day }
          : { hour, before: hour - 1, series: series[by] ?? 0 };
      const window = { from: at - windowMs, at, most };
      return this.#sql.earlier.get({ person, ...where, ...window })?.n === most;
    });
    for (const one of Object.values(series)) {
      if (one !== undefined) this.#sql.add.run({ hour, person, series: one, at, no: message });
    }
    if (isDaily) {
      const day = { hour: endOfNextDay, person, series: SERIES.day };
      this.#sql.add.run({ ...day, at, no: message });
    }
    const kept = { ...verdict, hour: isDaily ? endOfNextDay : hour };
    this.#sql.add.run({ ...kept, at: over?.place ?? -1, no: 0 });
    return over?.limit;
  }

  /** Deletes some of the rows that are too old to count. True: there may be more. */
  sweepSenderRates(): boolean {
    const before = Math.floor((this.#context.clock() - KEPT_MS) / HOUR_MS);
    return this.#sql.sweep.run({ before }).changes === ROWS_PER_CALL;
  }
}

interface Place {
  readonly hour: number;
  readonly person: number;
  readonly series: number;
}

interface Window extends Place {
  /** The hour of the previous part of the series. */
  readonly before: number;
  readonly from: number;
  readonly at: number;
  readonly most: number;
}

function prepare(db: Db) {
  return {
    // A message that was counted at another time, or with another daily limit, has its first verdict.
    verdict: db.prepare<[Place & { day: number }], { place: number }>(
      `SELECT at AS place FROM sender_counts
       WHERE hour IN (@hour - 1, @hour, @hour + 1, @day - 24, @day, @day + 24)
         AND person = @person AND series = @series ORDER BY hour LIMIT 1`,
    ),
    earlier: db.prepare<[Window], { n: number }>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM sender_counts
         WHERE hour IN (@hour, @before) AND person = @person AND series = @series
           AND at > @from AND at <= @at LIMIT @most)`,
    ),
    // Two messages with the same hash count once.
    add: db.prepare(
      `INSERT OR IGNORE INTO sender_counts (hour, person, series, at, no)
       VALUES (@hour, @person, @series, @at, @no)`,
    ),
    sweep: db.prepare(
      `DELETE FROM sender_counts WHERE (hour, person, series, at, no) IN (
         SELECT hour, person, series, at, no FROM sender_counts WHERE hour < @before
         ORDER BY hour, person, series, at, no LIMIT ${ROWS_PER_CALL})`,
    ),
  };
}
