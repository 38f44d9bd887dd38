import type { ShopId } from '../../domain/ids.ts';
import type { Leases } from '../../runtime/leases.ts';
import { FIRST_REFUSAL_NUMBER, WAITS_FOR } from '../entry.ts';
import type { WaitingQueue } from '../spool.ts';
import type { Database, Param } from './connection.ts';
import { LOOPS_BY_INDEX, NEVER, NOW, sqlFunction } from './schema.ts';

/** Lanes per call: accepts into these lanes wait until it has committed. */
const LANES_PER_CALL = 1000;

/**
 * Computes these lanes anew from their jobs. The caller has locked them. Lanes that an attempt owns
 * are left as they are, unless `settled`: their attempt has ended.
 */
export const REFRESH = sqlFunction(
  'refresh_lanes',
  `(keys bigint[], settled boolean) RETURNS void LANGUAGE sql
   ${LOOPS_BY_INDEX} AS $$
     UPDATE lane SET head = now.seq, due_at = greatest(coalesce(now.next_at, ${NEVER}), ${NOW.name}()),
       waits = coalesce(now.waits, 0), failures = coalesce(now.failures, 0),
       owned = false, owner = NULL
     FROM (
       SELECT lane.key, first.* FROM lane LEFT JOIN LATERAL (
         SELECT seq, next_at, waits, failures FROM job
         WHERE job.lane = lane.key AND job.seq > lane.after ORDER BY job.seq LIMIT 1
       ) AS first ON true
       WHERE lane.key = ANY (keys)
     ) AS now
     WHERE lane.key = now.key AND (settled OR NOT lane.owned) $$`,
);

/** Makes some of the heads that wait for their time due within `spread` milliseconds. */
const HASTEN = sqlFunction(
  'hasten',
  `(in_shop uuid, spread bigint, failed_since bigint) RETURNS int LANGUAGE plpgsql AS $$
   DECLARE
     now bigint := ${NOW.name}();
     keys bigint[];
     hastened int;
   BEGIN
     keys := ARRAY(SELECT key FROM lane JOIN job ON job.seq = lane.head
       WHERE shop = in_shop AND lane.waits = 0 AND due_at > now + spread AND NOT owned
         AND (failed_since IS NULL OR (
           key >= 0 AND job.failures > 0 AND last_attempt_at >= failed_since))
       LIMIT ${LANES_PER_CALL});
     keys := ARRAY(SELECT key FROM lane
       WHERE key = ANY (keys) AND waits = 0 AND due_at > now + spread AND NOT owned AND head IS NOT NULL
       ORDER BY key FOR UPDATE);
     WITH soon AS (
       UPDATE job SET next_at = now + (job.seq * 7919) % spread FROM lane
       WHERE lane.key = ANY (keys) AND job.seq = lane.head
       RETURNING job.lane, job.next_at
     )
     UPDATE lane SET due_at = soon.next_at FROM soon WHERE lane.key = soon.lane;
     GET DIAGNOSTICS hastened = ROW_COUNT;
     RETURN hastened;
   END $$`,
);

const WAITS_FOR_ENDED = `CASE WHEN in_number IS NOT NULL THEN waits = in_number
  ELSE waits >= ${FIRST_REFUSAL_NUMBER} AND NOT EXISTS (
    SELECT FROM refusal WHERE refusal.shop = in_shop AND number = waits AND NOT ended) END`;

/**
 * Makes some of the heads that wait for a refusal wait for their shop; without a number, for any refusal
 * that is over.
 */
const WAIT_FOR_SHOP = sqlFunction(
  'wait_for_shop',
  `(in_shop uuid, in_number int) RETURNS int LANGUAGE plpgsql AS $$
   DECLARE
     released int;
     keys bigint[];
   BEGIN
     keys := ARRAY(SELECT key FROM lane
       WHERE shop = in_shop AND NOT owned AND waits > 0
         AND ${WAITS_FOR_ENDED}
       LIMIT ${LANES_PER_CALL});
     keys := ARRAY(SELECT key FROM lane
       WHERE key = ANY (keys) AND NOT owned AND waits > 0
         AND ${WAITS_FOR_ENDED}
       ORDER BY key FOR UPDATE);
     UPDATE job SET waits = ${WAITS_FOR.shop} FROM lane WHERE lane.key = ANY (keys) AND job.seq = lane.head;
     UPDATE lane SET waits = ${WAITS_FOR.shop} WHERE key = ANY (keys);
     GET DIAGNOSTICS released = ROW_COUNT;
     RETURN released;
   END $$`,
);

/** A gateway that has read some lanes reads the next ones before this is over (delivery/watchdog.ts). */
const READS_LANES_FOR_MS = 60_000;
/** No lease is longer than this, and no gateway means to wait longer for a lane that it owns. */
const LONGEST_LEASE_MS = 60 * 60 * 1000;

/** A call that began later than a repair may have ended before it. */
const CALL_MS = 60_000;
/**
 * Lanes that do not say what their jobs do. A head that waited for its turn is due from then on. A lease that
 * ends much later was made by a clock that was ahead.
 */
const WRONG_LANES = `
  SELECT key FROM lane LEFT JOIN LATERAL (
    SELECT seq, next_at, waits, failures FROM job WHERE job.lane = lane.key ORDER BY seq LIMIT 1
  ) AS first ON true
  WHERE coalesce(first.seq <= lane.after, false)
    OR owned AND due_at > ${NOW.name}() + ${LONGEST_LEASE_MS} OR NOT owned AND (
    (head, lane.waits, lane.failures) IS DISTINCT FROM (
      first.seq, coalesce(first.waits, 0), coalesce(first.failures, 0))
    OR due_at < coalesce(next_at, ${NEVER}) OR due_at - ${CALL_MS} > greatest(coalesce(next_at, ${NEVER}), ${NOW.name}()))`;

/**
 * Repairs one portion of lanes that do not say what their jobs do, which must not occur. Returns the
 * number of repaired lanes and the last key of a full portion.
 */
const REPAIR = sqlFunction(
  'repair_lanes',
  `(behind bigint, OUT repaired int, OUT up_to bigint) LANGUAGE plpgsql AS $$
   DECLARE
     keys bigint[];
     wrong bigint[];
   BEGIN
     IF behind < 0 THEN
       -- Jobs whose lane has no row at all.
       INSERT INTO lane (key, shop, due_at, waits, failures, after)
         SELECT DISTINCT job.lane, entry.shop, ${NEVER}, 0, 0, 0 FROM job JOIN entry USING (seq)
         WHERE NOT EXISTS (SELECT FROM lane WHERE lane.key = job.lane)
         ORDER BY 1 ON CONFLICT DO NOTHING;
     END IF;
     keys := ARRAY(SELECT key FROM lane WHERE key > behind ORDER BY key LIMIT ${LANES_PER_CALL});
     wrong := ARRAY(SELECT key FROM (${WRONG_LANES}) AS broken WHERE key = ANY (keys));
     IF cardinality(wrong) > 0 THEN
       PERFORM 1 FROM lane WHERE key = ANY (wrong) ORDER BY key FOR UPDATE;
       wrong := ARRAY(SELECT key FROM (${WRONG_LANES}) AS broken WHERE key = ANY (wrong));
     END IF;
     UPDATE lane SET after = 0, owned = owned AND due_at <= ${NOW.name}() + ${LONGEST_LEASE_MS}
       WHERE key = ANY (wrong);
     PERFORM ${REFRESH.name}(wrong, false);
     repaired := cardinality(wrong);
     up_to := CASE WHEN cardinality(keys) = ${LANES_PER_CALL} THEN keys[${LANES_PER_CALL}] END;
   END $$`,
);

/** Entries that wait for a time or for their shop, and repairs of lanes. `WaitingQueue` documents the methods. */
export function waitingEntries(database: Database, leases: Leases): WaitingQueue {
  /** Calls a function that changes some lanes until none is left. Resolves with their number. */
  const untilNone = async (text: string, values: readonly Param[]): Promise<number> => {
    for (let total = 0; ;) {
      const changed = (await database.value<number>(text, values)) ?? 0;
      if (changed === 0) return total;
      total += changed;
    }
  };
  return {
    hasten: (shopId, spreadMs, failedSince) =>
      untilNone(`SELECT ${HASTEN.name}($1, $2, $3)`, [
        ...[shopId, Math.max(1, spreadMs), failedSince ?? null],
      ]),
    waitForShopInstead: (shopId, waitsFor) =>
      untilNone(`SELECT ${WAIT_FOR_SHOP.name}($1, $2)`, [shopId, waitsFor]),
    repair: async ({ shops, lanesAfter }) => {
      // One gateway at a time reads the lanes: they are the same for all.
      const [lanes] = (await leases.take('lanes', READS_LANES_FOR_MS))
        ? await database.query<{ repaired: number; up_to: number | null }>(
            `SELECT * FROM ${REPAIR.name}($1)`,
            [lanesAfter],
          )
        : [];
      const due = await database.query<{ shop: ShopId }>(
        `SELECT shop FROM json_array_elements_text($1::json) AS asked CROSS JOIN LATERAL (
           SELECT shop FROM lane WHERE lane.shop = asked::uuid AND lane.waits = 0
             AND lane.due_at <= ${NOW.name}() LIMIT 1) AS found`,
        [JSON.stringify(shops)],
      );
      let released = 0;
      for (const shopId of shops) {
        released += await untilNone(`SELECT ${WAIT_FOR_SHOP.name}($1, NULL)`, [shopId]);
      }
      return {
        ...{ lanesUpTo: lanes?.up_to ?? undefined, lanes: lanes?.repaired ?? 0, released },
        due: due.map(({ shop }) => shop),
      };
    },
  };
}
