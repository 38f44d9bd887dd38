import type { EntryId } from '../../domain/ids.ts';
import type { Accepted, NewEntry } from '../entry.ts';
import { dedupHash, laneHash, remoteKey, uuidOf } from '../hashes.ts';
import { SUMMARY_VERSION } from '../stored-form.ts';
import { Batches } from './batches.ts';
import type { Database, Query } from './connection.ts';
import { dedupKeyHash, remoteIdHash, WITHOUT_ERASED } from './erased-keys.ts';
import { lanesFor } from './names.ts';
import { jsonOf, storedReason } from './rows.ts';
import { BY_INDEX, NOW, sqlFunction } from './schema.ts';

/**
 * Stores a list of entries. `raws` are the raw bytes of all of them, one after the other: a list of
 * bytea would travel as hexadecimal text. Returns the id of the entry that is stored for each: for a
 * duplicate, that of the first. Those that are new come first.
 *
 * An email's row in `remote` decides between two gateways that give two emails the same Message-ID.
 * `lanes` waits for `taken`, because locks of lanes come last.
 *
 * The server may have lost a blob in a crash since it was written (`blobs.ts`); then nothing is stored.
 *
 * A duplicate is acknowledged like the first, whose commit may still wait for its standby.
 * The empty message makes this a transaction that writes, so its commit waits for the same standby.
 *
 * A message of an erased person is a duplicate. What is erased while this runs is looked for again after
 * the entries are stored; then the whole call is tried once more.
 */
export const ACCEPT = sqlFunction(
  'accept',
  `(items json, raws bytea) RETURNS TABLE (dedup uuid, id uuid, is_new boolean)
   LANGUAGE plpgsql ${BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     now bigint := ${NOW.name}();
     sent json := items;
     stored int;
   BEGIN
     IF EXISTS (SELECT FROM erased_key) THEN
       -- Removed first and answered then: each that is removed has an answer, whatever commits between.
       items := ${WITHOUT_ERASED.name}(items);
       RETURN QUERY SELECT item.dedup, erased_key.entry, false
         FROM json_to_recordset(sent) AS item (dedup uuid)
         JOIN erased_key ON erased_key.hash = ${dedupKeyHash('item.dedup')};
       IF FOUND THEN PERFORM pg_logical_emit_message(true, 'sluice', ''); END IF;
     END IF;
     RETURN QUERY WITH item AS MATERIALIZED (
       SELECT nextval('entry_seq') AS seq, * FROM json_to_recordset(items) AS (
         id uuid, kind text, shop uuid, channel text, lane text, lane_key bigint, dedup uuid,
         remote_id text, remote uuid, remote_id_if_taken text, remote_if_taken uuid,
         received_at bigint, meta text, hold text, detached boolean, raw_from int, raw_length int,
         raw_size bigint, blob text, raw_checksum bigint, summary_version int, "from" text, "to" text,
         subject text, more text)
     ), first AS (
       INSERT INTO remote (hash, seq)
       SELECT DISTINCT ON (remote) remote, seq FROM item WHERE remote IS NOT NULL ORDER BY remote, seq
       ON CONFLICT DO NOTHING RETURNING seq
     ), identified AS MATERIALIZED (
       SELECT item.*, remote_if_taken IS NOT NULL AND seq NOT IN (SELECT seq FROM first) AS is_taken
       FROM item
     ), new AS (
       INSERT INTO entry (seq, id, kind, shop, channel, lane, lane_key, dedup, remote_id, remote,
         received_at, meta, raw_size, blob, raw_checksum, summary_version, "from", "to", subject, more)
       SELECT seq, id, kind, shop, channel, lane, lane_key, dedup,
         CASE WHEN is_taken THEN remote_id_if_taken ELSE remote_id END,
         CASE WHEN is_taken THEN remote_if_taken ELSE remote END,
         received_at, meta, raw_size, blob, raw_checksum, summary_version, "from", "to", subject, more
       FROM identified ORDER BY dedup ON CONFLICT DO NOTHING RETURNING seq, dedup, id, remote
     ), taken AS (
       INSERT INTO remote (hash, seq)
       SELECT DISTINCT ON (remote) new.remote, seq FROM new JOIN identified USING (seq) WHERE is_taken
       ORDER BY remote, seq ON CONFLICT DO NOTHING RETURNING seq
     ), searched AS (
       INSERT INTO dirty (seq, is_new, at) SELECT seq, true, now FROM new
     ), kept AS (
       INSERT INTO raw (seq, bytes) SELECT seq, substr(raws, raw_from + 1, raw_length)
       FROM new JOIN item USING (seq) WHERE blob IS NULL
     ), queued AS MATERIALIZED (
       SELECT seq, shop, CASE WHEN detached THEN -seq ELSE lane_key END AS lane,
         least(received_at, now) AS next_at
       FROM new JOIN item USING (seq) WHERE hold IS NULL
     ), jobs AS (
       INSERT INTO job (seq, lane, next_at) SELECT seq, lane, next_at FROM queued
     ), held AS (
       INSERT INTO outcome (seq, state, reason, detached, next_at)
       SELECT seq, 'held', hold, coalesce(detached, false), least(received_at, now)
       FROM new JOIN item USING (seq) WHERE hold IS NOT NULL
     ), lanes AS (
       INSERT INTO lane AS old (key, shop, head, due_at, waits, failures, after)
       SELECT DISTINCT ON (lane) lane, shop, seq, now, 0, 0, seq - 1 FROM queued
       WHERE (SELECT count(*) FROM taken) >= 0 ORDER BY lane, seq
       ON CONFLICT (key) DO UPDATE SET
         after = least(old.after, EXCLUDED.after),
         (head, due_at, waits, failures) = (
           SELECT * FROM (VALUES (old.head, old.due_at, old.waits, old.failures)) AS kept
           WHERE old.owned OR old.head < EXCLUDED.head
           UNION ALL
           SELECT EXCLUDED.head, EXCLUDED.due_at, EXCLUDED.waits, EXCLUDED.failures
           WHERE NOT old.owned AND (old.head IS NULL OR old.head > EXCLUDED.head))
     )
     SELECT dedup, id, true FROM new;
     GET DIAGNOSTICS stored = ROW_COUNT;
     IF position('"blob":' IN items::text) > 0 AND EXISTS (
       SELECT FROM json_to_recordset(items) AS item (blob text) WHERE blob IS NOT NULL
         AND NOT EXISTS (SELECT FROM blob WHERE name = item.blob AND chunks > 0)) THEN
       RAISE EXCEPTION 'a blob of an entry is not in the database';
     END IF;
     IF EXISTS (SELECT FROM erased_key) AND EXISTS (
       SELECT FROM json_to_recordset(items) AS item (id uuid, remote uuid, remote_if_taken uuid)
       JOIN entry ON entry.id = item.id
       JOIN erased_key ON erased_key.hash = ${dedupKeyHash('entry.dedup')}
         OR item.remote_if_taken IS NOT NULL AND entry.remote = item.remote
           AND erased_key.hash = ${remoteIdHash('entry.shop', 'entry.remote_id')}
     ) THEN RAISE serialization_failure USING MESSAGE = 'a person was erased meanwhile'; END IF;
     IF stored = json_array_length(items) THEN RETURN; END IF;

     -- A new statement: it sees what another gateway committed while this one waited for it.
     RETURN QUERY SELECT entry.dedup, entry.id, false FROM entry
       WHERE entry.dedup = ANY (ARRAY(SELECT dedup FROM json_to_recordset(items) AS item (dedup uuid)));
     IF EXISTS (SELECT FROM erased_key) THEN
       RETURN QUERY SELECT item.dedup, erased_key.entry, false
         FROM json_to_recordset(items) AS item (dedup uuid)
         JOIN erased_key ON erased_key.hash = ${dedupKeyHash('item.dedup')};
     END IF;
     -- The first was swept meanwhile: once more, and this one is stored.
     IF EXISTS (SELECT FROM json_to_recordset(items) AS item (dedup uuid)
       WHERE NOT EXISTS (SELECT FROM entry WHERE entry.dedup = item.dedup)
         AND NOT EXISTS (SELECT FROM erased_key WHERE hash = ${dedupKeyHash('item.dedup')})) THEN
       RAISE serialization_failure;
     END IF;
     -- A duplicate gives no Message-ID to an entry.
     DELETE FROM remote WHERE hash IN (SELECT remote FROM json_to_recordset(items) AS item (remote uuid))
       AND NOT EXISTS (SELECT FROM entry WHERE entry.seq = remote.seq);
     PERFORM pg_logical_emit_message(true, 'sluice', '');
   END $$`,
);

interface AcceptedRow {
  readonly dedup: string;
  readonly id: EntryId;
}

/** An entry as `ACCEPT` takes it, and its raw bytes unless they are in a blob. */
interface StoredForm {
  /** `raw_from` is where its bytes begin among those of the batch. */
  readonly item: { readonly id: EntryId; readonly dedup: string; raw_from: number };
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array();

/** Accepts entries; all that arrive during one commit share the next. Those of one call stay together. */
export class PostgresIntake {
  readonly #database: Database;
  readonly #batches = new Batches<readonly StoredForm[], readonly Accepted[]>((calls) =>
    this.#accept(calls, (text, values) => this.#database.query(text, values)),
  );
  readonly #named = new Batches<readonly NewEntry[], readonly Accepted[]>((calls) =>
    this.#acceptNamed(calls),
  );

  constructor(database: Database) {
    this.#database = database;
  }

  async accept(entries: readonly NewEntry[]): Promise<readonly Accepted[]> {
    return entries.some(({ sender }) => sender !== undefined)
      ? this.#named.add(entries, entries.length)
      : this.#batches.add(entries.map(storedForm), entries.length);
  }

  /** Entries whose lanes are those of their senders. */
  #acceptNamed(calls: readonly (readonly NewEntry[])[]): Promise<Accepted[][]> {
    return this.#database.transaction(async (query) => {
      const lanes = await lanesFor(query, calls.flat());
      const forms = calls.map((call) =>
        call.map((entry) => storedForm({ ...entry, lane: lanes.get(entry) ?? entry.lane })),
      );
      return this.#accept(forms, query);
    });
  }

  async #accept(calls: readonly (readonly StoredForm[])[], query: Query): Promise<Accepted[][]> {
    const forms = calls.flat();
    // Of equal keys in one batch the first is stored.
    const firsts = new Map(forms.map((form) => [form.item.dedup, form] as const).reverse());
    const { items, raws } = joined([...firsts.values()].reverse());
    const rows = await query<AcceptedRow>(`SELECT * FROM ${ACCEPT.name}($1, $2)`, [
      jsonOf(items),
      raws,
    ]);
    const ids = new Map(rows.map(({ dedup, id }) => [dedup, id]));
    return calls.map((call) =>
      call.map(({ item }) => {
        const id = ids.get(item.dedup);
        if (id === undefined) throw new Error('accept answers each entry');
        // Also when an earlier try, whose answer was lost, has stored it.
        return { id, duplicate: id !== item.id };
      }),
    );
  }
}

/** The parameters of `ACCEPT`. */
export const storedForms = (entries: readonly NewEntry[]) => joined(entries.map(storedForm));

function joined(forms: readonly StoredForm[]): {
  readonly items: readonly object[];
  readonly raws: Uint8Array;
} {
  let from = 0;
  for (const { item, bytes } of forms) {
    item.raw_from = from;
    from += bytes.byteLength;
  }
  const raws = forms.map(({ bytes }) => bytes);
  return { items: forms.map(({ item }) => item), raws: Buffer.concat(raws, from) };
}

function storedForm(entry: NewEntry): StoredForm {
  const { shopId, channel, raw, summary, remoteId, remoteIdIfTaken } = entry;
  const remote = (id: string | undefined) =>
    id === undefined || channel !== 'email' ? null : uuidOf(remoteKey(shopId, id));
  const bytes = raw.kind === 'inline' ? raw.bytes : NO_BYTES;
  // One literal: with spreads and a copy, an entry took 30 µs instead of 6.
  const item = {
    id: entry.id,
    kind: entry.kind,
    shop: shopId,
    channel,
    lane: entry.lane,
    lane_key: laneHash(entry),
    dedup: uuidOf(dedupHash(entry)),
    remote_id: remoteId,
    remote: remote(remoteId),
    remote_id_if_taken: remoteIdIfTaken,
    remote_if_taken: remote(remoteIdIfTaken),
    received_at: entry.receivedAt,
    meta: JSON.stringify(entry.meta),
    hold: storedReason(entry.hold),
    detached: entry.detached === true,
    raw_from: 0,
    raw_length: bytes.byteLength,
    raw_size: raw.kind === 'inline' ? raw.bytes.byteLength : raw.size,
    blob: raw.kind === 'file' ? raw.blob : undefined,
    raw_checksum: raw.checksum,
    summary_version: summary && SUMMARY_VERSION,
    from: summary?.from,
    to: summary?.to,
    subject: summary?.subject,
    more: summary?.more,
  };
  return { item, bytes };
}
