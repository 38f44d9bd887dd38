import { laneInSql } from '../chat-rows.ts';
import { ACCEPT } from './intake.ts';
import { LOOPS_BY_INDEX, sqlFunction } from './schema.ts';
import { USE_UPLOADS } from './uploads.ts';
import { LOCK_OWNERS, OWNER } from './visitors.ts';

/** The hash of `hashes.ts`, for what only the database knows: a visitor's lane and merged guests. */
export const KEY_HASH = sqlFunction(
  'key_hash',
  `(shop text, channel text, key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
     SELECT encode(sha256(convert_to(shop, 'UTF8') || '\\x00'::bytea
       || convert_to(channel, 'UTF8') || '\\x00'::bytea || convert_to(key, 'UTF8')), 'hex') $$`,
);

/**
 * Accepts visitors' messages, each with its line and its uploads. Returns an answer for each.
 *
 * The visitors' rows are locked first. So all gateways' messages of one visitor get their lane, the number
 * of their line and the seq of their entry in the same order, and no other function may wait for a
 * visitor's row while it holds a lane's. The lock is also a write, so the answer to a duplicate waits for
 * the same standby as the first.
 *
 * A message is compared with earlier ones before its uploads are looked at, because a duplicate's uploads
 * are already used.
 */
export const ACCEPT_MESSAGES = sqlFunction(
  'accept_messages',
  `(items json, raws bytea) RETURNS TABLE (number int, answer text, id uuid, seq bigint, at bigint)
   LANGUAGE plpgsql ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     each record;
     entries jsonb[] := '{}';   -- for accept
     keys uuid[] := '{}';       -- their dedup keys
     answers text[] := '{}';    -- of each message, when it is refused
     firsts uuid[] := '{}';     -- of each message, the entry of a copy that a merged guest sent
     files json[] := '{}';      -- of each message, the uploads that it uses
     used json;
     accepted_keys uuid[];
     accepted_ids uuid[];
     are_new boolean[];
     place int;
   BEGIN
     PERFORM ${LOCK_OWNERS.name}(items);
     FOR each IN
       SELECT item.*, owner.no, owner.id AS owner, owner.lane, (item.entry->>'dedup')::uuid AS dedup, (
         SELECT entry.id FROM visitor AS guest
         JOIN entry ON entry.dedup = left(${KEY_HASH.name}(
           item.shop, item.entry->>'channel', guest.id || item.key_end), 32)::uuid
         WHERE guest.shop = item.shop::uuid AND guest.joined = owner.id AND NOT guest.reserved
         ORDER BY guest.no DESC LIMIT 1) AS first
       FROM json_to_recordset(items) AS item (
         number int, shop text, visitor text, uploads json, key_end text, entry jsonb)
       LEFT JOIN LATERAL (
         SELECT no, id, ${laneInSql('visitor')} AS lane
         FROM ${OWNER.name}(item.shop::uuid, item.visitor) AS visitor
       ) AS owner ON true
       ORDER BY number
     LOOP
       answers := answers || CASE WHEN each.owner = each.visitor THEN NULL ELSE 'joined' END;
       firsts := firsts || each.first;
       files := files || '[]'::json;
       CONTINUE WHEN each.owner IS DISTINCT FROM each.visitor OR each.first IS NOT NULL
         OR each.dedup = ANY (keys);
       IF json_array_length(each.uploads) > 0
         AND NOT EXISTS (SELECT FROM entry WHERE entry.dedup = each.dedup) THEN
         used := ${USE_UPLOADS.name}(
           each.shop::uuid, each.visitor, each.uploads, (each.entry->>'id')::uuid);
         IF used IS NULL THEN
           answers[cardinality(answers)] := 'unknown_upload';
           CONTINUE;
         END IF;
         files[cardinality(files)] := used;
       END IF;
       keys := keys || each.dedup;
       entries := entries || (each.entry || jsonb_build_object('lane', each.lane, 'lane_key',
         ('x0000' || left(${KEY_HASH.name}(each.shop, each.entry->>'channel', each.lane), 12))::bit(64)::bigint));
     END LOOP;

     IF cardinality(entries) > 0 THEN
       SELECT array_agg(dedup), array_agg(id), array_agg(is_new) INTO accepted_keys, accepted_ids, are_new
         FROM ${ACCEPT.name}(to_json(entries), raws);
     END IF;
     FOR each IN
       SELECT item.*, owner.no, (item.entry->>'dedup')::uuid AS dedup
       FROM json_to_recordset(items) AS item (
         number int, shop uuid, visitor text, message_id text, text text, entry jsonb)
       LEFT JOIN LATERAL ${OWNER.name}(item.shop, item.visitor) AS owner ON true
       ORDER BY number
     LOOP
       number := each.number;
       answer := answers[number + 1];
       id := firsts[number + 1];
       at := (each.entry->>'received_at')::bigint;
       seq := 0;
       place := CASE WHEN answer IS NULL AND id IS NULL THEN array_position(accepted_keys, each.dedup) END;
       id := coalesce(id, accepted_ids[place]);
       IF are_new[place] THEN
         -- A further copy in this batch is a duplicate.
         are_new[place] := false;
         answer := 'accepted';
         UPDATE visitor SET last_seq = last_seq + 1 WHERE no = each.no RETURNING last_seq INTO seq;
         INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state)
           VALUES (each.no, seq, 'visitor', each.message_id, each.text, 'TEXT', files[number + 1]::text,
             at, 'accepted');
       ELSIF answer IS NULL THEN
         answer := 'duplicate';
         SELECT line.seq, line.at INTO seq, at FROM journal AS line
           WHERE visitor = each.no AND sender = 'visitor' AND message_id = each.message_id
           ORDER BY line.seq DESC LIMIT 1;
         IF NOT FOUND THEN
           -- The retention has deleted the line.
           seq := 0;
           at := (each.entry->>'received_at')::bigint;
         END IF;
       END IF;
       RETURN NEXT;
     END LOOP;
   END $$`,
);

/**
 * Appends replies that their visitor does not have, replaces the texts of those that have changed, and
 * returns both.
 */
export const STORE_REPLIES = sqlFunction(
  'store_replies',
  `(items json)
   RETURNS TABLE (number int, owner text, seq bigint, rev bigint, at bigint, asked_at bigint,
     agent_id text, user_id text, choices text)
   LANGUAGE plpgsql ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     each record;
     known record;
     change bigint;
   BEGIN
     PERFORM ${LOCK_OWNERS.name}(items);
     FOR each IN
       SELECT item.*, owner.no, owner.id AS owner FROM json_to_recordset(items) AS item (
         number int, shop uuid, visitor text, id text, text text, format text, at bigint,
         agent_id text, user_id text, updated_at bigint, choices text)
       CROSS JOIN LATERAL ${OWNER.name}(item.shop, item.visitor) AS owner
       ORDER BY number
     LOOP
       number := each.number;
       owner := each.owner;
       rev := 0;
       at := each.at;
       asked_at := NULL;
       agent_id := each.agent_id;
       user_id := each.user_id;
       choices := each.choices;
       SELECT line.seq, line.text, line.format, line.at, line.updated_at, line.agent_id, line.user_id,
           line.choices INTO known
         FROM journal AS line
         WHERE visitor = each.no AND sender = 'agent' AND message_id = each.id;
       IF FOUND THEN
         CONTINUE WHEN known.text = each.text AND known.format = each.format
           OR each.updated_at < known.updated_at;
         seq := known.seq;
         at := known.at;
         agent_id := known.agent_id;
         user_id := known.user_id;
         choices := known.choices;
         UPDATE visitor SET last_rev = last_rev + 1 WHERE no = each.no RETURNING last_rev INTO change;
         rev := change;
         UPDATE journal AS line SET text = each.text, format = each.format, rev = change,
           updated_at = each.updated_at WHERE visitor = each.no AND line.seq = known.seq;
       ELSE
         SELECT min(line.at) INTO asked_at FROM journal AS line
           WHERE visitor = each.no AND line.seq > coalesce((
             SELECT answer.seq FROM journal AS answer WHERE visitor = each.no AND sender = 'agent'
             ORDER BY answer.seq DESC LIMIT 1), 0);
         UPDATE visitor SET last_seq = last_seq + 1 WHERE no = each.no RETURNING last_seq INTO seq;
         INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state,
             agent_id, user_id, updated_at, choices)
           VALUES (each.no, seq, 'agent', each.id, each.text, each.format, '[]', each.at, 'delivered',
             each.agent_id, each.user_id, each.updated_at, each.choices);
       END IF;
       RETURN NEXT;
     END LOOP;
   END $$`,
);

/** The newest line of a mark's message. */
const NEWEST_LINE = `(
           SELECT seq, state FROM journal WHERE journal.visitor = owner.no AND sender = 'visitor'
             AND message_id = item.message_id ORDER BY seq DESC LIMIT 1)`;

/**
 * Marks the newest line of each message whose state the mark may follow (`after`), and returns the visitors
 * that have the lines now, without those whose lines have kept another state. It locks no visitor, so it does
 * not wait for messages. A line that was moved while it waited is found in another statement, as is one with
 * several marks in this batch, which follow each other in the order of their states.
 */
export const MARK_MESSAGES = sqlFunction(
  'mark_messages',
  `(items json) RETURNS TABLE (number int, owner text) LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE marked int;
   BEGIN
     FOR attempt IN 1..4 LOOP
       WITH line AS (
         SELECT DISTINCT ON (owner.no, newest.seq) owner.no, newest.seq, item.state, item.after
         FROM json_to_recordset(items) AS item (
           number int, shop uuid, visitor text, message_id text, state text, after text[])
         CROSS JOIN LATERAL ${OWNER.name}(item.shop, item.visitor) AS owner
         CROSS JOIN LATERAL ${NEWEST_LINE} AS newest
         WHERE newest.state = ANY (item.after)
         ORDER BY owner.no, newest.seq, item.number
       )
       UPDATE journal SET state = line.state FROM line
         WHERE journal.visitor = line.no AND journal.seq = line.seq AND journal.state = ANY (line.after);
       GET DIAGNOSTICS marked = ROW_COUNT;
       EXIT WHEN marked = json_array_length(items) OR attempt > 1 AND marked = 0;
     END LOOP;
     RETURN QUERY SELECT item.number, owner.id
       FROM json_to_recordset(items) AS item (
         number int, shop uuid, visitor text, message_id text, state text)
       CROSS JOIN LATERAL ${OWNER.name}(item.shop, item.visitor) AS owner
       LEFT JOIN LATERAL ${NEWEST_LINE} AS newest ON true
       WHERE newest.state IS NULL OR newest.state = item.state;
   END $$`,
);
