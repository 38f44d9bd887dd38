import type { CountedMessage, RateLimit, RateLimits } from '../sender-rates.ts';
import { rateHash } from '../hashes.ts';
import { Batches } from './batches.ts';
import type { Database } from './connection.ts';
import { BY_INDEX, NOW, sqlFunction } from './schema.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Longer than any window except the day's, for messages that an outage of the platform delayed. */
const KEPT_MS = 3 * HOUR;
const ROWS_PER_CALL = 2000;

/** In the order in which they are looked at; `key` names the column whose messages are counted. */
const RULES: readonly { limit: RateLimit; key: 'person' | 'thread' | 'body'; windowMs: number }[] =
  [
    { limit: 'perThreadPer10min', key: 'thread', windowMs: 10 * MINUTE },
    { limit: 'sameBodyPerHour', key: 'body', windowMs: HOUR },
    { limit: 'per10min', key: 'person', windowMs: 10 * MINUTE },
    { limit: 'perHour', key: 'person', windowMs: HOUR },
    { limit: 'perDay', key: 'person', windowMs: DAY },
  ];

/**
 * Counts messages of persons, one row a message, in their order, and returns the name of the first rule
 * that each exceeds. A message has a number among those of its person, its thread and its body. A rule is
 * exceeded if the message with the number `most` lower is within the window, so a look costs the same for
 * any number of messages.
 */
const COUNT = sqlFunction(
  'count_messages',
  `(items json) RETURNS TABLE (number int, exceeded text) LANGUAGE plpgsql
   ${BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     each record;
     rule record;
     of_person bigint;
     of_thread bigint;
     of_body bigint;
     earlier bigint;
     over text;
   BEGIN
     -- Messages of one person are counted one after the other, at all gateways.
     PERFORM pg_advisory_xact_lock(person) FROM (
       SELECT DISTINCT person FROM json_to_recordset(items) AS item (person bigint) ORDER BY person) AS persons;
     FOR each IN SELECT * FROM json_to_recordset(items) AS item (number int, person bigint,
       message bigint, thread bigint, body bigint, at bigint, keep_until bigint, rules json) ORDER BY number
     LOOP
       SELECT sender_rate.exceeded INTO over FROM sender_rate
         WHERE person = each.person AND message = each.message;
       IF NOT FOUND THEN
         of_person := 1 + coalesce((SELECT max(person_no) FROM sender_rate WHERE person = each.person), 0);
         of_thread := 1 + coalesce((SELECT max(thread_no) FROM sender_rate
           WHERE person = each.person AND thread = each.thread), 0);
         of_body := 1 + coalesce((SELECT max(body_no) FROM sender_rate
           WHERE person = each.person AND body = each.body), 0);
         over := NULL;
         FOR rule IN SELECT * FROM json_to_recordset(each.rules)
           AS rule (name text, key text, window_ms bigint, most int) LOOP
           earlier := CASE rule.key
             WHEN 'thread' THEN (SELECT at FROM sender_rate WHERE person = each.person
               AND thread = each.thread AND thread_no = of_thread - rule.most)
             WHEN 'body' THEN (SELECT at FROM sender_rate WHERE person = each.person
               AND body = each.body AND body_no = of_body - rule.most)
             ELSE (SELECT at FROM sender_rate WHERE person = each.person
               AND person_no = of_person - rule.most) END;
           IF abs(each.at - earlier) < rule.window_ms THEN over := rule.name; EXIT; END IF;
         END LOOP;
         INSERT INTO sender_rate (person, person_no, message, thread, thread_no, body, body_no, at,
             keep_until, exceeded)
           VALUES (each.person, of_person, each.message, each.thread, of_thread, each.body, of_body,
             each.at, each.keep_until, over);
       END IF;
       number := each.number;
       exceeded := over;
       RETURN NEXT;
     END LOOP;
   END $$`,
);

export const SENDER_RATE_FUNCTIONS = [COUNT];

interface Counting {
  readonly sent: CountedMessage;
  readonly limits: RateLimits;
}

/** Counts how many messages a person sent recently, at all gateways together. */
export class SenderRateTable {
  readonly #database: Database;
  readonly #counts = new Batches<Counting, RateLimit | undefined>((all) => this.#count(all));

  constructor(database: Database) {
    this.#database = database;
  }

  countMessage(sent: CountedMessage, limits: RateLimits): Promise<RateLimit | undefined> {
    return this.#counts.add({ sent, limits });
  }

  async #count(all: readonly Counting[]): Promise<(RateLimit | undefined)[]> {
    const rows = await this.#database.query<{ number: number; exceeded: RateLimit | null }>(
      `SELECT * FROM ${COUNT.name}($1)`,
      [JSON.stringify(all.map(countItem))],
    );
    const exceeded = new Map(rows.map((row) => [row.number, row.exceeded]));
    return all.map((_, number) => exceeded.get(number) ?? undefined);
  }

  /** Deletes some of the rows that are too old to count. True: there may be more. */
  async sweepSenderRates(): Promise<boolean> {
    const [row] = await this.#database.query<{ swept: number }>(
      `WITH gone AS (DELETE FROM sender_rate WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM sender_rate WHERE keep_until < ${NOW.name}() ORDER BY keep_until
         LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED)) RETURNING 1)
       SELECT count(*)::int AS swept FROM gone`,
    );
    return row?.swept === ROWS_PER_CALL;
  }
}

/** A message as `COUNT` takes it. Only hashes of the texts are stored. */
function countItem({ sent, limits }: Counting, number: number): object {
  const { shopId, message, thread, body, at } = sent;
  const hashed = (kind: string, text: string | undefined) =>
    text === undefined ? null : rateHash(shopId, kind, text);
  const rules = RULES.flatMap(({ limit, key, windowMs }) => {
    const most = limits[limit];
    if (most === undefined || (key !== 'person' && sent[key] === undefined)) return [];
    // "More than 10" looks at the message ten before; "three times" at the one two before.
    return [
      {
        name: limit,
        key,
        window_ms: windowMs,
        most: limit === 'sameBodyPerHour' ? most - 1 : most,
      },
    ];
  });
  return {
    ...{ number, at, rules, person: rateHash(shopId, 'person', sent.person) },
    message: rateHash(shopId, 'message', message),
    ...{ thread: hashed('thread', thread), body: hashed('body', body) },
    keep_until: at + (limits.perDay === undefined ? KEPT_MS : 2 * DAY),
  };
}
