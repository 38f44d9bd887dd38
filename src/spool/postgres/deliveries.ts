import type { Clock } from '../../runtime/clock.ts';
import type { StoredRecord } from '../delivery-record.ts';
import { encodeRecord } from '../delivery-record.ts';
import type {
  Claimed,
  ClaimRequest,
  EntryMeta,
  Lease,
  Outcome,
  SavedMedia,
  Settlement,
} from '../entry.ts';
import type { DeliveryRecord } from '../operator-store.ts';
import { Batches } from './batches.ts';
import type { Database } from './connection.ts';
import { ACCEPT, storedForms } from './intake.ts';
import { REFRESH } from './lanes.ts';
import { storedReason, toEntry, toRawForm } from '../entry-row.ts';
import { type EntryRow, jsonOf } from './rows.ts';
import { NOW, sqlFunction } from './schema.ts';

/**
 * Claims heads of due lanes for the requests of `ClaimRequest`, in rounds: in each round every open request
 * gets an equal share of what is left.
 *
 * The lanes are locked by one statement, and their heads are read by a later one, which sees all that was
 * committed before the lanes were locked. As one statement it returned an entry that had been settled.
 *
 * @param stale how long ago a lease must have ended to count as expired
 */
const CLAIM = sqlFunction(
  'claim',
  `(requests json, at_most int, lease bigint, stale bigint, instance text)
   RETURNS TABLE (request int, generation bigint, seq bigint, id uuid, kind text, shop uuid,
     channel text, lane text, remote_id text, received_at bigint, meta text, raw_size bigint,
     blob text, raw_checksum bigint, next_at bigint, waits int, attempts int, failures int,
     failing_ms bigint, last_attempt_at bigint, detached boolean, reason text, released boolean,
     notes text, bytes bytea, media json)
   LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
   #variable_conflict use_column
   DECLARE
     now bigint := ${NOW.name}();
     keys bigint[] := '{}';  -- of the claimed lanes
     whose int[] := '{}';    -- the number of the request that claimed each
     open json[] := ARRAY(SELECT each FROM json_array_elements(requests) AS each);
     still json[];
     each json;
     wanted json;
     left_over int := at_most;
     share int;
     most int;
     before int;
     found bigint[];
   BEGIN
     WHILE left_over > 0 AND cardinality(open) > 0 LOOP
       share := greatest(1, left_over / cardinality(open));
       still := '{}';
       FOREACH each IN ARRAY open LOOP
         before := cardinality(keys);
         most := least(share, left_over,
           (each->>'limit')::int - (SELECT count(*) FROM unnest(whose) AS n WHERE n = (each->>'number')::int));
         FOR wanted IN SELECT * FROM json_array_elements(each->'from') LOOP
           EXIT WHEN cardinality(keys) - before >= most;
           IF (wanted->>'waits')::int = 0 THEN
             found := ARRAY(SELECT key FROM lane
               WHERE shop = (each->>'shop')::uuid AND waits = 0 AND due_at <= now
                 AND (NOT owned OR due_at < now - stale) AND key <> ALL (keys)
                 AND ((wanted->>'failed')::boolean OR failures = 0)
               ORDER BY due_at, head
               LIMIT greatest(0, least(most - (cardinality(keys) - before), (wanted->>'retries')::int - (
                 SELECT count(*) FROM unnest(keys, whose) AS mine (key, number) JOIN lane USING (key)
                 WHERE number = (each->>'number')::int AND failures > 0)))
               FOR UPDATE SKIP LOCKED);
           ELSE
             found := ARRAY(SELECT key FROM lane
               WHERE shop = (each->>'shop')::uuid AND waits > 0 AND waits = (wanted->>'waits')::int
                 AND due_at <= now AND (NOT owned OR due_at < now - stale) AND key <> ALL (keys)
               ORDER BY failures, head LIMIT most - (cardinality(keys) - before)
               FOR UPDATE SKIP LOCKED);
           END IF;
           keys := keys || found;
           whose := whose || array_fill((each->>'number')::int, ARRAY[cardinality(found)]);
         END LOOP;
         left_over := left_over - (cardinality(keys) - before);
         IF most > 0 AND cardinality(keys) - before = most THEN still := still || each; END IF;
       END LOOP;
       open := still;
     END LOOP;
     IF cardinality(keys) = 0 THEN RETURN; END IF;

     UPDATE lane SET head = first.seq, after = first.seq - 1, due_at = now + lease, owned = true,
       owner = instance, generation = nextval('lease_generation')
     FROM (
       SELECT lane.key, first.seq FROM lane CROSS JOIN LATERAL (
         SELECT seq FROM job WHERE job.lane = lane.key AND job.seq > lane.after ORDER BY seq LIMIT 1
       ) AS first WHERE lane.key = ANY (keys)
     ) AS first
     WHERE lane.key = first.key;
     RETURN QUERY
       SELECT claimed.request, lane.generation, seq, id, kind, entry.shop, channel, entry.lane,
         remote_id, received_at, meta, raw_size, blob, raw_checksum, next_at, job.waits, attempts,
         job.failures, failing_ms, last_attempt_at, lane.key < 0, reason, released, notes, bytes,
         (SELECT json_agg(media) FROM media WHERE media.seq = lane.head)
       FROM unnest(keys, whose) WITH ORDINALITY AS claimed (key, request, place)
       JOIN lane ON lane.key = claimed.key AND lane.owned JOIN job ON job.seq = lane.head
       JOIN entry USING (seq) LEFT JOIN raw USING (seq)
       ORDER BY place;
   END $$`,
);

/** Extends the leases that are still held and returns the generations of these. */
const RENEW = sqlFunction(
  'renew',
  `(leases json, lease bigint) RETURNS SETOF bigint LANGUAGE plpgsql
   SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
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
 * Writes the outcomes of attempts. Each counts only if its lease is still held: the lane has the
 * generation of the claim. Returns the generations that counted.
 * @param blobs the raw forms of follow-ups and the deflated records, one after the other
 */
const SETTLE = sqlFunction(
  'settle',
  `(items json, bytes bytea) RETURNS SETOF bigint LANGUAGE plpgsql
   SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
   DECLARE
     now bigint := ${NOW.name}();
     each record;
     keys bigint[] := '{}';
   BEGIN
     PERFORM 1 FROM lane WHERE key IN (
       SELECT job.lane FROM json_to_recordset(items) AS item (id uuid)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq) ORDER BY key FOR UPDATE;
     FOR each IN
       SELECT item.*, job.seq, job.lane AS lane, entry.lane_key FROM json_to_recordset(items) AS item (
         id uuid, generation bigint, state text, retry_in bigint, waits int, reason text, failed int, counts int,
         failing_ms bigint, detach boolean, steps text, notes text, message_id text, conversation_id text,
         record text, record_from int, record_length int, follow_ups json, raws_from int, raws_length int)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq
       JOIN lane ON lane.key = job.lane AND lane.head = job.seq AND lane.owned
         AND lane.generation = item.generation
       ORDER BY lane.key
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
           notes = coalesce(each.notes, notes), last_attempt_at = now,
           lane = CASE WHEN each.detach THEN -seq ELSE lane END
           WHERE seq = each.seq;
         IF each.detach AND each.lane >= 0 THEN
           INSERT INTO lane (key, shop, due_at, waits, failures, after)
             SELECT -seq, shop, 0, 0, 0, seq - 1 FROM entry WHERE seq = each.seq ON CONFLICT DO NOTHING;
           keys := keys || -each.seq;
         END IF;
       ELSE
         WITH gone AS (DELETE FROM job WHERE seq = each.seq RETURNING *)
         INSERT INTO outcome (seq, state, settled_at, next_at, waits, attempts, failures, failing_ms,
           last_attempt_at, detached, released, reason, notes, platform_message_id, conversation_id)
         SELECT seq, each.state, CASE WHEN each.state <> 'held' THEN now END, next_at, waits,
           attempts + each.counts, failures, failing_ms, now, lane < 0, released, each.reason,
           CASE WHEN each.state <> 'delivered' THEN notes END, each.message_id, each.conversation_id
         FROM gone;
         -- The search finds it by these ids.
         IF each.message_id IS NOT NULL OR each.conversation_id IS NOT NULL THEN
           INSERT INTO dirty (seq, is_new, at) VALUES (each.seq, false, now);
         END IF;
       END IF;
       IF each.follow_ups IS NOT NULL THEN
         PERFORM ${ACCEPT.name}(each.follow_ups, substr(bytes, each.raws_from + 1, each.raws_length));
       END IF;
       RETURN NEXT each.generation;
     END LOOP;
     PERFORM ${REFRESH.name}(keys, true);
   END $$`,
);

const SAVE_MEDIA = sqlFunction(
  'save_media',
  `(items json) RETURNS SETOF int LANGUAGE sql
   SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
     WITH held AS MATERIALIZED (
       -- The lock: an erasure of the entry that has to delete the media waits for this.
       SELECT number, entry.seq, part, media_id, url
       FROM json_to_recordset(items) AS item (
         number int, id uuid, generation bigint, part text, media_id text, url text)
       JOIN entry ON entry.id = item.id JOIN job ON job.seq = entry.seq
       JOIN lane ON lane.key = job.lane AND lane.head = job.seq AND lane.owned
         AND lane.generation = item.generation
       ORDER BY entry.seq FOR KEY SHARE OF entry
     ), saved AS (
       SELECT DISTINCT ON (seq, part) * FROM held ORDER BY seq, part, number DESC
     ), stored AS (
       INSERT INTO media (seq, part, media_id, url) SELECT seq, part, media_id, url FROM saved
       ON CONFLICT (seq, part) DO UPDATE SET media_id = EXCLUDED.media_id, url = EXCLUDED.url
     )
     SELECT number FROM saved $$`,
);

export const DELIVERY_FUNCTIONS = [CLAIM, RENEW, SETTLE, SAVE_MEDIA];

/** What no claimed entry has to be read for. */
const DELIVERING = {
  state: 'delivering',
  has_raw: true,
  settled_at: null,
  platform_message_id: null,
  conversation_id: null,
} as const;

interface ClaimedRow extends Omit<EntryRow, keyof typeof DELIVERING | 'next_attempt_at'> {
  readonly request: number;
  readonly generation: number;
  readonly next_at: number;
  readonly bytes: Uint8Array | null;
  readonly released: boolean;
  readonly notes: string | null;
  readonly media: readonly { part: string; media_id: string; url: string | null }[] | null;
}

interface Attempt {
  readonly lease: Lease;
  readonly outcome: Outcome;
  readonly settlement: Settlement;
  readonly record: StoredRecord | undefined;
}

interface Upload {
  readonly lease: Lease;
  readonly part: string;
  readonly media: SavedMedia;
}

/** The queue as delivery sees it. `DeliveryQueue` documents the methods. */
export class PostgresDeliveries {
  readonly #database: Database;
  readonly #instance: string;
  readonly #clock: Clock;
  readonly #settles = new Batches<Attempt, boolean>((attempts) => this.#settle(attempts));
  readonly #uploads = new Batches<Upload, boolean>((uploads) => this.#saveMedia(uploads));

  /** @param instance names this gateway in the leases that it holds */
  constructor(database: Database, instance: string, clock: Clock) {
    this.#database = database;
    this.#instance = instance;
    this.#clock = clock;
  }

  async claim(
    requests: readonly ClaimRequest[],
    leaseMs: number,
    atMost: number,
    expiredBefore?: number,
  ): Promise<readonly (readonly Claimed[])[]> {
    const answers = requests.map((): Claimed[] => []);
    if (requests.length === 0 || atMost <= 0) return answers;
    const stale = expiredBefore === undefined ? 0 : Math.max(0, this.#clock() - expiredBefore);
    const rows = await this.#database.query<ClaimedRow>(
      `SELECT * FROM ${CLAIM.name}($1, $2, $3, $4, $5)`,
      [JSON.stringify(requests.map(asked)), atMost, leaseMs, stale, this.#instance],
    );
    for (const row of rows) {
      const claimed = await this.#toClaimed(row);
      if (claimed !== undefined) answers[row.request]?.push(claimed);
    }
    return answers;
  }

  async #toClaimed(row: ClaimedRow): Promise<Claimed | undefined> {
    const lease = { id: row.id, generation: row.generation };
    const raw = toRawForm(row, row.bytes);
    if (raw === undefined) {
      await this.settle(lease, { state: 'dead', reason: { code: 'raw_missing' } }, { steps: [] });
      return undefined;
    }
    return {
      entry: toEntry({ ...row, next_attempt_at: row.next_at, ...DELIVERING }),
      ...{ lease, raw, released: row.released },
      media: new Map(
        (row.media ?? []).map(({ part, media_id: id, url }) => [
          part,
          { id, ...(url !== null && { url }) },
        ]),
      ),
      // Written by JSON.stringify of an EntryMeta in `attemptItem`.
      notes: row.notes === null ? {} : (JSON.parse(row.notes) as EntryMeta),
    };
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<readonly Lease[]> {
    if (leases.length === 0) return [];
    const held = await this.#database.query<{ generation: number }>(
      `SELECT generation FROM ${RENEW.name}($1, $2) AS generation`,
      [jsonOf(leases), leaseMs],
    );
    const generations = new Set(held.map(({ generation }) => generation));
    return leases.filter(({ generation }) => !generations.has(generation));
  }

  async settle(
    lease: Lease,
    outcome: Outcome,
    settlement: Settlement,
    record?: DeliveryRecord,
  ): Promise<boolean> {
    const stored = record && (await encodeRecord(record));
    return this.#settles.add({ lease, outcome, settlement, record: stored });
  }

  async #settle(attempts: readonly Attempt[]): Promise<boolean[]> {
    const parts: Uint8Array[] = [];
    let from = 0;
    const add = (bytes: Uint8Array) => {
      parts.push(bytes);
      from += bytes.byteLength;
      return { from: from - bytes.byteLength, length: bytes.byteLength };
    };
    const items = attempts.map((attempt) => attemptItem(attempt, add));
    const settled = await this.#database.query<{ generation: number }>(
      `SELECT generation FROM ${SETTLE.name}($1, $2) AS generation`,
      [jsonOf(items), Buffer.concat(parts, from)],
    );
    const generations = new Set(settled.map(({ generation }) => generation));
    return attempts.map(({ lease }) => generations.has(lease.generation));
  }

  saveMedia(lease: Lease, part: string, media: SavedMedia): Promise<boolean> {
    return this.#uploads.add({ lease, part, media });
  }

  async #saveMedia(uploads: readonly Upload[]): Promise<boolean[]> {
    const items = uploads.map(({ lease, part, media }, number) => ({
      ...{ number, ...lease, part, media_id: media.id, url: media.url },
    }));
    const saved = await this.#database.query<{ number: number }>(
      `SELECT number FROM ${SAVE_MEDIA.name}($1) AS number`,
      [jsonOf(items)],
    );
    const numbers = new Set(saved.map(({ number }) => number));
    return uploads.map((_, number) => numbers.has(number));
  }
}

/** A request as `CLAIM` takes it. */
function asked({ shopId, limit, from, retries = 0 }: ClaimRequest, number: number): object {
  const sources = from.map((source) =>
    typeof source === 'number' ? { waits: source } : { waits: 0, failed: source === 'due' },
  );
  const again = retries > 0 ? [{ waits: 0, failed: true, retries }] : [];
  return { number, shop: shopId, limit, from: [...sources, ...again] };
}

type AddBytes = (bytes: Uint8Array) => { readonly from: number; readonly length: number };

/** An attempt as `SETTLE` takes it. */
function attemptItem({ lease, outcome, settlement, record }: Attempt, add: AddBytes): object {
  const { steps, notes, followUps = [] } = settlement;
  const deflated = record instanceof Uint8Array ? add(record) : undefined;
  const next = followUps.length > 0 ? storedForms(followUps) : undefined;
  const raws = next && add(next.raws);
  return {
    ...{ ...lease, ...outcomeItem(outcome) },
    ...(steps.length > 0 && { steps: JSON.stringify(steps) }),
    ...(notes !== undefined && { notes: JSON.stringify(notes) }),
    ...(typeof record === 'string' && { record }),
    ...(deflated && { record_from: deflated.from, record_length: deflated.length }),
    ...(next && raws && { follow_ups: next.items, raws_from: raws.from, raws_length: raws.length }),
  };
}

function outcomeItem(outcome: Outcome): object {
  switch (outcome.state) {
    case 'delivered':
      return {
        ...{ state: 'delivered', counts: 1, reason: storedReason(outcome.caveat) },
        ...{ message_id: outcome.platformMessageId, conversation_id: outcome.conversationId },
      };
    case 'queued':
      return {
        ...{ state: 'queued', retry_in: outcome.retryInMs, waits: outcome.waitsFor },
        ...{ reason: storedReason(outcome.reason), failed: outcome.failed ? 1 : 0 },
        ...{
          counts: outcome.counts ? 1 : 0,
          failing_ms: outcome.failingMs,
          detach: outcome.detach,
        },
      };
    case 'dead':
    case 'held':
    case 'suppressed':
      return {
        ...{ state: outcome.state, counts: outcome.state === 'dead' ? 1 : 0 },
        reason: storedReason(outcome.reason),
      };
  }
}
