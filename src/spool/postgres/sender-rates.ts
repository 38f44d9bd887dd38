import {
  type CountedMessage,
  keptMs,
  type RateLimit,
  type RateLimits,
  rulesFor,
} from '../sender-rates.ts';
import { rateHash } from '../hashes.ts';
import { Batches, numbered } from './batches.ts';
import type { Database } from './connection.ts';
import { BY_INDEX, NOW, sqlFunction } from './schema.ts';

const ROWS_PER_CALL = 2000;

/** How many of a person's messages within a rule's window came before: at most as many as the rule allows. */
const earlier = (same = ''): string => `(SELECT count(*) FROM (
  SELECT 1 FROM sender_count WHERE person = each.person ${same}
    AND at > each.at - rule.window_ms AND at <= each.at LIMIT rule.most) AS found)`;

/**
 * Counts messages of persons, one row a message, in their order, and returns the name of the first rule
 * that each exceeds. A look reads as many rows as the limit allows.
 */
const COUNT = sqlFunction(
  'count_messages',
  `(items json) RETURNS TABLE (number int, exceeded text) LANGUAGE plpgsql
   ${BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     each record;
     rule record;
     earlier int;
     over text;
   BEGIN
     -- Messages of one person are counted one after the other, at all gateways.
     PERFORM pg_advisory_xact_lock(person) FROM (
       SELECT DISTINCT person FROM json_to_recordset(items) AS item (person bigint) ORDER BY person) AS persons;
     FOR each IN SELECT * FROM json_to_recordset(items) AS item (number int, person bigint,
       message bigint, thread bigint, body bigint, at bigint, keep_until bigint, rules json) ORDER BY number
     LOOP
       SELECT sender_count.exceeded INTO over FROM sender_count
         WHERE person = each.person AND message = each.message;
       IF NOT FOUND THEN
         over := NULL;
         FOR rule IN SELECT * FROM json_to_recordset(each.rules)
           AS rule (name text, key text, window_ms bigint, most int) LOOP
           earlier := CASE rule.key WHEN 'thread' THEN ${earlier('AND thread = each.thread')}
             WHEN 'body' THEN ${earlier('AND body = each.body')} ELSE ${earlier()} END;
           IF earlier = rule.most THEN over := rule.name; EXIT; END IF;
         END LOOP;
         INSERT INTO sender_count (person, message, thread, body, at, keep_until, exceeded)
           VALUES (each.person, each.message, each.thread, each.body, each.at, each.keep_until, over);
       END IF;
       number := each.number;
       exceeded := over;
       RETURN NEXT;
     END LOOP;
   END $$`,
);

interface Counting {
  readonly sent: CountedMessage;
  readonly limits: RateLimits;
}

/** Counts how many messages a person sent recently, at all gateways together. */
export function senderRateTable(database: Database) {
  const counts = new Batches<Counting, RateLimit | undefined>(async (all) => {
    const rows = await database.query<{ number: number; exceeded: RateLimit | null }>(
      `SELECT * FROM ${COUNT.name}($1)`,
      [JSON.stringify(all.map(countItem))],
    );
    return numbered(all, rows).map((row) => row?.exceeded ?? undefined);
  });
  return {
    countMessage: (sent: CountedMessage, limits: RateLimits): Promise<RateLimit | undefined> =>
      counts.add({ sent, limits }),
    /** Deletes some of the rows that are too old to count. True: there may be more. */
    sweepSenderRates: async (): Promise<boolean> => {
      const swept = await database.value<number>(
        `WITH old AS (DELETE FROM sender_rate WHERE keep_until < ${NOW.name}()),
         gone AS (DELETE FROM sender_count WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM sender_count WHERE keep_until < ${NOW.name}() ORDER BY keep_until
           LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED)) RETURNING 1)
         SELECT count(*)::int FROM gone`,
      );
      return swept === ROWS_PER_CALL;
    },
  };
}

/** A message as `COUNT` takes it. Only hashes of the texts are stored. */
function countItem({ sent, limits }: Counting, number: number): object {
  const { shopId, message, thread, body, at } = sent;
  const hashed = (kind: string, text: string | undefined) =>
    text === undefined ? null : rateHash(shopId, kind, text);
  return {
    number,
    at,
    person: rateHash(shopId, 'person', sent.person),
    message: rateHash(shopId, 'message', message),
    thread: hashed('thread', thread),
    body: hashed('body', body),
    keep_until: at + keptMs(limits),
    rules: rulesFor(sent, limits).map(({ limit, by, windowMs, most }) => ({
      name: limit,
      key: by,
      window_ms: windowMs,
      most,
    })),
  };
}
