import type { Clock } from '../../runtime/clock.ts';
import type { CountedMail, MailLimit, MailLimits } from '../mail-rates.ts';
import type { Db } from './database.ts';
import { rateHash } from './hashes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Kept longer than any window, for messages that an outage of the platform held up. */
const KEPT_MS = 3 * HOUR;
const ROWS_PER_CALL = 2000;

interface Rule {
  readonly limit: MailLimit;
  readonly key: 'person' | 'thread' | 'body';
  readonly windowMs: number;
}

const RULES: readonly Rule[] = [
  { limit: 'perThreadPer10min', key: 'thread', windowMs: 10 * MINUTE },
  { limit: 'sameBodyPerHour', key: 'body', windowMs: HOUR },
  { limit: 'per10min', key: 'person', windowMs: 10 * MINUTE },
  { limit: 'perHour', key: 'person', windowMs: HOUR },
];

/**
 * How many messages a person has sent of late. Each message has a number in each of its three
 * series (of the person, of a thread, of a body): whether there were more than N in a window is
 * whether the one N numbers before came within it. So a look costs the same for any number of
 * messages.
 *
 * All rows of a person stand together in the hour in which they arrived: a message changes one
 * page, and what is old is deleted from the start of the table.
 */
export class MailRateTable {
  readonly #clock: Clock;
  readonly #sql;

  constructor(db: Db, clock: Clock) {
    this.#clock = clock;
    this.#sql = prepare(db);
  }

  /** Counts a message, unless it has been counted. Answers the limit that it is over, both times. */
  count(mail: CountedMail, limits: MailLimits): MailLimit | undefined {
    const hour = Math.floor(mail.at / HOUR);
    const person = rateHash(mail.shopId, 'person', mail.person);
    const message = rateHash(mail.shopId, 'message', mail.message);
    const series = {
      person: 0,
      thread: rateHash(mail.shopId, 'thread', mail.thread),
      body: rateHash(mail.shopId, 'body', mail.body),
    };
    const counted = this.#sql.at.get({ hour, person, series: message, no: 0 });
    if (counted !== undefined) return RULES[counted.at]?.limit;

    const numbers = {
      person: this.#next(hour, person, series.person),
      thread: this.#next(hour, person, series.thread),
      body: this.#next(hour, person, series.body),
    };
    for (const key of ['person', 'thread', 'body'] as const) {
      this.#sql.add.run({ hour, person, series: series[key], no: numbers[key], at: mail.at });
    }
    const over = RULES.findIndex(({ limit, key, windowMs }) => {
      // "More than 10" looks at the one ten before; "three times" at the one two before.
      const back = limit === 'sameBodyPerHour' ? limits[limit] - 1 : limits[limit];
      const no = numbers[key] - back;
      const earlier = no < 1 ? undefined : this.#latest(hour, person, series[key], no);
      return earlier !== undefined && earlier > mail.at - windowMs;
    });
    this.#sql.add.run({ hour, person, series: message, no: 0, at: over });
    return RULES[over]?.limit;
  }

  #next(hour: number, person: number, series: number): number {
    const last =
      this.#sql.last.get({ hour, person, series }) ??
      this.#sql.last.get({ hour: hour - 1, person, series });
    return (last?.no ?? 0) + 1;
  }

  #latest(hour: number, person: number, series: number, no: number): number | undefined {
    const row =
      this.#sql.at.get({ hour, person, series, no }) ??
      this.#sql.at.get({ hour: hour - 1, person, series, no });
    return row?.at;
  }

  /** Deletes some of what is too old to count. True: there may be more. */
  sweep(): boolean {
    const before = Math.floor((this.#clock() - KEPT_MS) / HOUR);
    return this.#sql.sweep.run({ before }).changes === ROWS_PER_CALL;
  }
}

interface Key {
  readonly hour: number;
  readonly person: number;
  readonly series: number;
}

function prepare(db: Db) {
  return {
    at: db.prepare<[Key & { no: number }], { at: number }>(
      `SELECT at FROM mail_rates
       WHERE hour = @hour AND person = @person AND series = @series AND no = @no`,
    ),
    last: db.prepare<[Key], { no: number }>(
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
