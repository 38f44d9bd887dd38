import { ACCEPT } from './intake.ts';
import { REFRESH } from './lanes.ts';
import { LANES_OF } from './names.ts';
import { LOOPS_BY_INDEX, NEVER, NOW, sqlFunction } from './schema.ts';

/** A lane that became due this long ago is found by every claim: its commit may have taken some time. */
const FLOOR_BEHIND_MS = 500;

const CLAIMED = `TABLE (request int, generation bigint, seq bigint, id uuid, kind text, shop uuid,
     channel text, lane text, remote_id text, received_at bigint, meta text, raw_size bigint,
     blob text, raw_checksum bigint, next_at bigint, waits int, attempts int, failures int,
     failing_ms bigint, last_attempt_at bigint, detached boolean, reason text, released boolean,
     unended boolean, notes text, bytes bytea, media json, conversation json)`;

/**
 * Claims heads of due lanes for the requests of `ClaimRequest`, in rounds: in each round every open request
 * gets an equal share of what is left.
 *
 * The lanes are locked by one statement, and their heads are read by a later one, which sees all that was
 * committed before the lanes were locked. As one statement it returned an entry that had been settled.
 * A locked row keeps its place, by which it is found without an index.
 *
 * A source that waits only for its time may have a `floor`: the claim reads no lane that was due before, so it
 * does not read what is deleted and not vacuumed yet. The last row, which has no request, has in `notes`
 * the floors for the next claim, by the sources' `name`, and whether an operator asked for a probe.
 *
 * `last_attempt_at` is how long ago that was, at least 1; 0 before the first attempt. So is `ago` of a
 * conversation's use.
 *
 * @param stale how long ago a lease must have ended to count as expired
 */
export const CLAIM = sqlFunction(
  'claim',
  `(requests json, at_most int, lease bigint, stale bigint, instance text)
   RETURNS ${CLAIMED}
   LANGUAGE plpgsql ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     now bigint := ${NOW.name}();
     places tid[] := '{}';  -- of the claimed lanes
     whose int[] := '{}';  -- the number of the request that claimed each
     again boolean[] := '{}';  -- whether its head failed before
     floors jsonb := '{}';
     open json[] := ARRAY(SELECT each FROM json_array_elements(requests) AS each);
     still json[];
     each json;
     wanted json;
     left_over int := at_most;
     share int;
     most int;
     before int;
     room int;
     found tid[];
     failed boolean[];
     lowest bigint;
   BEGIN
     WHILE left_over > 0 AND cardinality(open) > 0 LOOP
       share := greatest(1, left_over / cardinality(open));
       still := '{}';
       FOREACH each IN ARRAY open LOOP
         before := cardinality(places);
         most := least(share, left_over, (each->>'limit')::int
           - cardinality(array_positions(whose, (each->>'number')::int)));
         FOR wanted IN SELECT * FROM json_array_elements(each->'from') LOOP
           room := least(most - (cardinality(places) - before), (wanted->>'retries')::int - (
             SELECT count(*) FROM unnest(whose, again) AS mine (number, again)
             WHERE number = (each->>'number')::int AND mine.again));
           CONTINUE WHEN room <= 0;
           IF (wanted->>'waits')::int = 0 THEN
             SELECT array_agg(ctid), array_agg(failures > 0), min(due_at) INTO found, failed, lowest FROM (
               SELECT ctid, failures, due_at FROM lane
               WHERE shop = (each->>'shop')::uuid AND waits = 0
                 AND due_at <= now AND due_at >= (wanted->>'floor')::bigint
                 AND (NOT owned OR due_at < now - stale) AND ctid <> ALL (places)
                 AND ((wanted->>'failed')::boolean OR failures = 0)
               ORDER BY due_at, head LIMIT room FOR UPDATE SKIP LOCKED) AS due;
             IF NOT floors ? (wanted->>'name') THEN
               floors := floors || jsonb_build_object(wanted->>'name', least(lowest, now - ${FLOOR_BEHIND_MS}));
             END IF;
           ELSE
             SELECT array_agg(ctid), array_agg(failures > 0) INTO found, failed FROM (
               SELECT ctid, failures FROM lane
               WHERE shop = (each->>'shop')::uuid AND waits > 0 AND waits = (wanted->>'waits')::int
                 AND due_at <= now AND (NOT owned OR due_at < now - stale) AND ctid <> ALL (places)
               ORDER BY failures, head LIMIT room FOR UPDATE SKIP LOCKED) AS waiting;
           END IF;
           CONTINUE WHEN found IS NULL;
           places := places || found;
           again := again || failed;
           whose := whose || array_fill((each->>'number')::int, ARRAY[cardinality(found)]);
         END LOOP;
         left_over := left_over - (cardinality(places) - before);
         IF most > 0 AND cardinality(places) - before = most THEN still := still || each; END IF;
       END LOOP;
       open := still;
     END LOOP;

     IF cardinality(places) > 0 THEN
       RETURN QUERY WITH first AS MATERIALIZED (
         SELECT claimed.*, lane.owned, job.* FROM unnest(places, whose) WITH ORDINALITY AS claimed (place, request, no)
         JOIN lane ON lane.ctid = claimed.place CROSS JOIN LATERAL (
           SELECT * FROM job WHERE job.lane = lane.key AND job.seq > lane.after ORDER BY job.seq LIMIT 1
         ) AS job
       ), taken AS (
         UPDATE lane SET head = first.seq, after = first.seq - 1, due_at = now + lease,
           waits = first.waits, failures = first.failures,
           owned = true, owner = instance, generation = nextval('lease_generation')
         FROM first WHERE lane.ctid = first.place
         RETURNING lane.generation, first.*
       )
       SELECT taken.request, taken.generation, seq, id, kind, entry.shop, channel, entry.lane,
         remote_id, received_at, meta, raw_size, blob, raw_checksum, next_at, taken.waits, attempts,
         taken.failures, failing_ms,
         CASE last_attempt_at WHEN 0 THEN 0 ELSE greatest(1, now - last_attempt_at) END, taken.lane < 0, reason, released, taken.owned OR taken.unended, notes, bytes,
         (SELECT json_agg(media) FROM media WHERE media.seq = taken.seq),
         CASE WHEN channel <> 'email' THEN (
           SELECT json_build_object('id', conversation_id, 'ago', greatest(0, now - used_at)) 
           FROM unnest(${LANES_OF.name}(entry.shop, entry.lane)) WITH ORDINALITY AS theirs (lane, place)
           JOIN conversation AS own ON own.shop = entry.shop AND own.channel = entry.channel
             AND own.lane = theirs.lane COLLATE "C" ORDER BY place LIMIT 1) END
       FROM taken JOIN entry USING (seq) LEFT JOIN raw USING (seq)
       ORDER BY taken.no;
     END IF;
     request := NULL;
     notes := json_build_object('floors', floors, 'probes', EXISTS (SELECT FROM probe_request));
     RETURN NEXT;
   END $$`,
);

/** Extends the leases that are still held and returns the generations of these. */
export const RENEW = sqlFunction(
  'renew',
  `(leases json, lease bigint) RETURNS SETOF bigint LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   DECLARE keys bigint[];
   BEGIN
     keys := ARRAY(
       SELECT lane.key FROM json_to_recordset(leases) AS held (id uuid, generation bigint)
       JOIN entry ON entry.id = held.id JOIN job ON job.seq = entry.seq
       JOIN lane ON lane.key = job.lane AND lane.head = job.seq AND lane.generation = held.generation
       WHERE lane.owned ORDER BY lane.key FOR UPDATE OF lane);
     RETURN QUERY UPDATE lane SET due_at = ${NOW.name}() + lease
       WHERE key = ANY (keys) AND owned RETURNING generation;
   END $$`,
);

/**
 * Writes the outcomes of attempts. Each counts only if the entry was not claimed anew: the lane has the
 * generation of the claim; of several for one claim the first counts. Returns the numbers of those that
 * count, now or before: `settled_by` is the generation whose outcome a row has. All lanes are locked before the first is changed: those of the attempts, of their
 * follow-ups, and the lane of its own that a detached entry gets.
 * @param bytes the raw forms of follow-ups and the deflated records, one after the other
 */
export const SETTLE = sqlFunction(
  'settle',
  `(items json, bytes bytea) RETURNS SETOF int LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   DECLARE
     now bigint := ${NOW.name}();
     each record;
     keys bigint[] := '{}';
     done int[] := '{}';
   BEGIN
     INSERT INTO lane AS old (key, shop, due_at, waits, failures, after)
       SELECT DISTINCT -entry.seq, shop, ${NEVER}, 0, 0, entry.seq - 1
       FROM json_to_recordset(items) AS item (id uuid, detach boolean)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq
       WHERE detach ORDER BY 1
       ON CONFLICT (key) DO UPDATE SET after = least(old.after, EXCLUDED.after);
     PERFORM 1 FROM lane WHERE key IN (
       SELECT job.lane FROM json_to_recordset(items) AS item (id uuid)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq
       UNION ALL SELECT follow_up.lane_key
       FROM json_to_recordset(items) AS item (follow_ups json)
       CROSS JOIN json_to_recordset(follow_ups) AS follow_up (lane_key bigint)) ORDER BY key FOR UPDATE;
     FOR each IN
       SELECT DISTINCT ON (job.lane) item.*, job.seq, job.lane AS lane FROM json_to_recordset(items) AS item (
         number int, id uuid, generation bigint, state text, retry_in bigint, waits int, reason text, failed int, counts int,
         failing_ms bigint, detach boolean, steps text, notes text, message_id text, conversation_id text,
         record text, record_from int, record_length int, follow_ups json, raws_from int, raws_length int)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq
       JOIN lane ON lane.key = job.lane AND lane.head = job.seq AND lane.owned
         AND lane.generation = item.generation
       ORDER BY job.lane, number
     LOOP
       keys := keys || each.lane;
       IF each.steps IS NOT NULL THEN
         INSERT INTO timeline (seq, no, at, steps) SELECT each.seq, coalesce(max(no), 0) + 1, now, each.steps
           FROM timeline WHERE timeline.seq = each.seq;
       END IF;
       IF each.record IS NOT NULL OR each.record_length IS NOT NULL THEN
         INSERT INTO record (seq, json, deflated)
           VALUES (each.seq, each.record, substr(bytes, each.record_from + 1, each.record_length))
           ON CONFLICT (seq) DO UPDATE SET json = EXCLUDED.json, deflated = EXCLUDED.deflated;
       END IF;
       IF each.state = 'queued' THEN
         UPDATE job SET next_at = now + each.retry_in, waits = each.waits,
           reason = coalesce(each.reason, reason), attempts = attempts + each.counts,
           failures = failures + each.failed, failing_ms = failing_ms + each.failing_ms,
           notes = coalesce(each.notes, notes), last_attempt_at = now, settled_by = each.generation,
           unended = false,
           lane = CASE WHEN each.detach THEN -seq ELSE lane END
           WHERE seq = each.seq;
         IF each.detach THEN keys := keys || -each.seq; END IF;
       ELSE
         WITH gone AS (DELETE FROM job WHERE seq = each.seq RETURNING *)
         INSERT INTO outcome (seq, state, settled_at, next_at, waits, attempts, failures, failing_ms,
           last_attempt_at, detached, released, reason, notes, platform_message_id, conversation_id,
           settled_by)
         SELECT seq, each.state, CASE WHEN each.state <> 'held' THEN now END, next_at, waits,
           attempts + each.counts, failures, failing_ms, now, lane < 0, released, each.reason,
           CASE WHEN each.state <> 'delivered' THEN notes END, each.message_id, each.conversation_id,
           each.generation
         FROM gone;
         IF each.state = 'delivered' AND each.conversation_id IS NOT NULL AND each.reason IS NULL THEN
           UPDATE conversation AS own SET used_at = now FROM entry
             WHERE entry.seq = each.seq AND own.shop = entry.shop AND own.channel = entry.channel
               AND own.lane = ANY (${LANES_OF.name}(entry.shop, entry.lane) COLLATE "C")
               AND own.conversation_id = each.conversation_id;
         END IF;
         -- The search finds it by these ids.
         IF each.message_id IS NOT NULL OR each.conversation_id IS NOT NULL THEN
           INSERT INTO dirty (seq, is_new, at) VALUES (each.seq, false, now);
         END IF;
       END IF;
       IF each.follow_ups IS NOT NULL THEN
         PERFORM ${ACCEPT.name}(each.follow_ups, substr(bytes, each.raws_from + 1, each.raws_length));
       END IF;
       done := done || each.number;
     END LOOP;
     PERFORM ${REFRESH.name}(keys, true);
     IF cardinality(done) < json_array_length(items) THEN
       done := done || ARRAY(
         SELECT number FROM json_to_recordset(items) AS item (
           number int, id uuid, generation bigint, state text)
         JOIN entry ON entry.id = item.id
         LEFT JOIN job ON job.seq = entry.seq LEFT JOIN outcome ON outcome.seq = entry.seq
         WHERE number <> ALL (done) AND (
           item.state = 'queued' AND job.settled_by = item.generation
           OR outcome.state = item.state AND outcome.settled_by = item.generation));
     END IF;
     RETURN QUERY SELECT unnest(done);
   END $$`,
);

/** Stores uploads whose lease is still held, and returns their numbers. */
export const SAVE_MEDIA = sqlFunction(
  'save_media',
  `(items json) RETURNS SETOF int LANGUAGE sql
   ${LOOPS_BY_INDEX} AS $$
     WITH held AS MATERIALIZED (
       SELECT number, entry.seq, part, media_id, url
       FROM json_to_recordset(items) AS item (
         number int, id uuid, generation bigint, part text, media_id text, url text)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq
       JOIN lane ON lane.key = job.lane AND lane.head = job.seq AND lane.owned
         AND lane.generation = item.generation
       ORDER BY lane.key FOR UPDATE OF lane
     ), stored AS (
       INSERT INTO media (seq, part, media_id, url)
       SELECT DISTINCT ON (seq, part) seq, part, media_id, url FROM held ORDER BY seq, part, number DESC
       ON CONFLICT (seq, part) DO UPDATE SET media_id = EXCLUDED.media_id, url = EXCLUDED.url
     )
     SELECT number FROM held $$`,
);

/** `SETTLE`, then `CLAIM`, in one commit. A row without a request has the settled numbers in `notes`. */
export const SETTLE_AND_CLAIM = sqlFunction(
  'settle_and_claim',
  `(items json, own_bytes bytea, requests json, at_most int, lease bigint, stale bigint, instance text)
   RETURNS ${CLAIMED} LANGUAGE plpgsql AS $$
   #variable_conflict use_column
   BEGIN
     notes := json_build_object('settled', ARRAY(SELECT ${SETTLE.name}(items, own_bytes)));
     RETURN NEXT;
     RETURN QUERY SELECT * FROM ${CLAIM.name}(requests, at_most, lease, stale, instance);
   END $$`,
);
