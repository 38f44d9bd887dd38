import { randomBytes } from 'node:crypto';
import type { EntryId, ShopId } from '../../domain/ids.ts';
import type {
  Note,
  Person,
  RestKind,
  StoredName,
  TracedEntry,
  TracedLane,
  TracedVisitor,
} from '../erasure.ts';
import { blackenedHealth, blackenedSteps, ERASED_REASON } from '../erasure-search.ts';
import { rateHash } from '../hashes.ts';
import type { Database } from './connection.ts';
import { dedupKeyHash, erasureKeyRow, optOutHash, remoteIdHash } from './erased-keys.ts';
import { REFRESH } from './lanes.ts';
import { lockNames } from './names.ts';
import { jsonOf, storable } from './rows.ts';
import { LOOPS_BY_INDEX, NEVER, sqlFunction } from './schema.ts';

/** A shop's health is written again and again; one of these writes meets no other. */
const ATTEMPTS = 5;

/**
 * Erases entries with all that belongs to them, and returns those that it left: without `take`, those
 * that are being delivered. What has to be deleted outside the rows is recorded in the same transaction.
 *
 * Whoever changes an entry has locked its lane, which may have no row any more. An entry that an attempt
 * detached while this waited has another lane, which is locked by a second statement. Rows that other
 * functions add under a lock of the entry are deleted after it.
 */
const ERASE_ENTRIES = sqlFunction(
  'erase_entries',
  `(ids uuid[], take boolean) RETURNS SETOF uuid LANGUAGE plpgsql
   ${LOOPS_BY_INDEX} AS $$
   #variable_conflict use_column
   DECLARE
     now bigint;
     kept uuid[] := '{}';
     seqs bigint[];
     keys bigint[];
     ended bigint[];
   BEGIN
     INSERT INTO lane (key, shop, due_at, waits, failures, after)
       SELECT DISTINCT ON (lane_key) lane_key, shop, ${NEVER}, 0, 0, seq - 1 FROM entry
       WHERE id = ANY (ids) ORDER BY lane_key, seq ON CONFLICT DO NOTHING;
     FOR look IN 1..2 LOOP
       PERFORM 1 FROM lane WHERE key IN (
         SELECT lane_key FROM entry WHERE id = ANY (ids)
         UNION ALL SELECT -seq FROM entry WHERE id = ANY (ids)) ORDER BY key FOR UPDATE;
     END LOOP;
     now := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
     IF NOT take THEN
       kept := ARRAY(SELECT id FROM entry JOIN job USING (seq)
         JOIN lane ON lane.key = job.lane AND head = seq AND owned AND due_at > now WHERE id = ANY (ids));
     END IF;
     seqs := ARRAY(SELECT seq FROM entry WHERE id = ANY (ids) AND id <> ALL (kept) ORDER BY seq);
     keys := ARRAY(SELECT lane_key FROM entry WHERE seq = ANY (seqs)
       UNION SELECT -seq FROM unnest(seqs) AS seq);
     PERFORM 1 FROM outcome WHERE seq = ANY (seqs) ORDER BY seq FOR UPDATE;
     INSERT INTO erased_key (hash, entry)
       SELECT hash, id FROM entry CROSS JOIN LATERAL (VALUES
         (${dedupKeyHash('dedup')}),
         (CASE WHEN remote IS NOT NULL THEN ${remoteIdHash('shop', 'remote_id')} END)) AS known (hash)
       WHERE seq = ANY (seqs) AND hash IS NOT NULL ORDER BY hash ON CONFLICT DO NOTHING;
     INSERT INTO erasure_rest (kind, name)
       SELECT 'blob', blob FROM entry WHERE seq = ANY (seqs) AND blob IS NOT NULL
       UNION SELECT 'message', platform_message_id FROM outcome
         WHERE seq = ANY (seqs) AND platform_message_id IS NOT NULL
       ORDER BY 1, 2 ON CONFLICT DO NOTHING;

     ended := ARRAY(SELECT key FROM lane WHERE key = ANY (keys) AND head = ANY (seqs));
     DELETE FROM job WHERE seq = ANY (seqs);
     PERFORM ${REFRESH.name}(ended, true);
     PERFORM ${REFRESH.name}(keys, false);
     DELETE FROM outcome WHERE seq = ANY (seqs);
     DELETE FROM remote WHERE seq = ANY (seqs);
     DELETE FROM entry WHERE seq = ANY (seqs);

     WITH gone AS (DELETE FROM media WHERE seq = ANY (seqs) RETURNING media_id)
       INSERT INTO erasure_rest (kind, name) SELECT DISTINCT 'media', media_id FROM gone
       ON CONFLICT DO NOTHING;
     WITH gone AS (DELETE FROM upload WHERE entry = ANY (ids) AND entry <> ALL (kept) RETURNING blob)
       INSERT INTO erasure_rest (kind, name) SELECT DISTINCT 'blob', blob FROM gone
       ON CONFLICT DO NOTHING;
     DELETE FROM raw WHERE seq = ANY (seqs);
     DELETE FROM record WHERE seq = ANY (seqs);
     DELETE FROM timeline WHERE seq = ANY (seqs);
     DELETE FROM move WHERE seq = ANY (seqs);
     DELETE FROM card WHERE seq = ANY (seqs);
     -- The key of a lane is a hash of the person's address.
     DELETE FROM lane WHERE key = ANY (keys) AND head IS NULL AND NOT owned
       AND NOT EXISTS (SELECT FROM job WHERE job.lane = lane.key);
     RETURN QUERY SELECT unnest(kept);
   END $$`,
);

/** Erases one visitor with history and uploads; the lock ends what adds to them. */
const ERASE_VISITOR = sqlFunction(
  'erase_visitor',
  `(number bigint) RETURNS void LANGUAGE plpgsql AS $$
   #variable_conflict use_column
   DECLARE own visitor;
   BEGIN
     SELECT * INTO own FROM visitor WHERE no = number FOR UPDATE;
     IF NOT FOUND THEN RETURN; END IF;
     WITH gone AS (DELETE FROM upload WHERE shop = own.shop AND visitor = own.id RETURNING blob)
       INSERT INTO erasure_rest (kind, name)
       SELECT 'blob', blob FROM gone UNION SELECT 'visitor', own.id ON CONFLICT DO NOTHING;
     DELETE FROM journal WHERE visitor = number;
     DELETE FROM visitor WHERE no = number;
   END $$`,
);

export const ERASURE_FUNCTIONS = [ERASE_ENTRIES, ERASE_VISITOR];

/**
 * Deletes what `TraceFinder` found. Each statement is one transaction and can be repeated after
 * a kill.
 */
export class ErasureRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes the key of the hashes, unless the database has one. Before anything is erased. */
  async makeKey(): Promise<void> {
    await this.#database.query(
      `INSERT INTO erasure_key (key, inner_pad, outer_pad) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      erasureKeyRow(randomBytes(32)),
    );
  }

  /**
   * @param inFlight `keep` skips entries that are being delivered; `take` erases them too: their
   * attempt has lost its lease
   * @returns the entries that were skipped
   */
  async entries(
    entries: readonly TracedEntry[],
    inFlight: 'keep' | 'take',
  ): Promise<TracedEntry[]> {
    const rows = await this.#database.query<{ id: EntryId }>(
      `SELECT id FROM ${ERASE_ENTRIES.name}($1::uuid[], $2) AS id`,
      [entries.map(({ id }) => id), inFlight === 'take'],
    );
    const left = new Set(rows.map(({ id }) => id));
    return entries.filter(({ id }) => left.has(id));
  }

  async visitor({ no }: TracedVisitor): Promise<void> {
    await this.#database.query(`SELECT ${ERASE_VISITOR.name}($1)`, [no]);
  }

  async conversations(lanes: readonly TracedLane[]): Promise<void> {
    if (lanes.length === 0) return;
    await this.#database.query(
      `DELETE FROM conversation USING json_to_recordset($1) AS their ("shopId" uuid, channel text, lane text)
       WHERE shop = "shopId" AND conversation.channel = their.channel AND conversation.lane = their.lane`,
      [jsonOf(lanes)],
    );
  }

  async names(names: readonly StoredName[]): Promise<void> {
    await this.#database.transaction(async (query) => {
      await lockNames(query, names);
      await query(
        `DELETE FROM person_name USING json_to_recordset($1) AS their (shop uuid, scope text, name text)
         WHERE person_name.shop = their.shop AND person_name.scope = their.scope
           AND person_name.name = their.name`,
        [jsonOf(names)],
      );
    });
  }

  /** An opt-out remains as a keyed hash; a number that opted in again leaves nothing. */
  async optOut({ shopId, lane }: TracedLane): Promise<void> {
    await this.#database.query(
      `WITH gone AS (
         DELETE FROM opt_out WHERE shop = $1 AND lane = $2
         RETURNING opted_out, at, ${optOutHash('shop', 'lane')} AS hash
       ), kept AS (
         INSERT INTO erased_opt_out (hash, at) SELECT hash, at FROM gone WHERE opted_out
         ON CONFLICT DO NOTHING
       )
       DELETE FROM erased_opt_out WHERE hash IN (SELECT hash FROM gone WHERE NOT opted_out)`,
      [shopId, storable(lane)],
    );
  }

  /** Deletes the person's rate counts. */
  async senderRates(person: Person, shops: readonly ShopId[]): Promise<number> {
    const hashes = shops.flatMap((shop) =>
      person.countedAs.map((name) => String(rateHash(shop, 'person', name))),
    );
    const gone = await this.#database.query(
      `WITH old AS (DELETE FROM sender_rate WHERE person = ANY ($1::bigint[]))
       DELETE FROM sender_count WHERE person = ANY ($1::bigint[]) RETURNING 1`,
      [hashes],
    );
    return gone.length;
  }

  /** Redacts the store's texts about another person's entry: answers that quote the person. */
  async note({ seq, no }: Note, person: Person): Promise<void> {
    if (no === undefined) {
      for (const table of ['job', 'outcome', 'move']) {
        await this.#database.query(
          `UPDATE ${table} SET reason = $1 WHERE seq = $2 AND reason IS NOT NULL`,
          [ERASED_REASON, seq],
        );
      }
      return;
    }
    const [row] = await this.#database.query<{ steps: string }>(
      'SELECT steps FROM timeline WHERE seq = $1 AND no = $2',
      [seq, no],
    );
    if (row === undefined) return;
    await this.#database.query('UPDATE timeline SET steps = $1 WHERE seq = $2 AND no = $3', [
      ...[blackenedSteps(row.steps, person), seq, no],
    ]);
  }

  /** Redacts the same in the stored shop health, unless a gateway has written it meanwhile. */
  async shopHealth(person: Person): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const rows = await this.#database.query<{ shop: ShopId; health: string }>(
        'SELECT shop, health FROM shop_health',
      );
      const named = rows.flatMap(({ shop, health }) => {
        const clean = blackenedHealth(health, person);
        return clean === health ? [] : [{ shop, health, clean }];
      });
      if (named.length === 0) return;
      await this.#database.query(
        `UPDATE shop_health AS old SET health = clean
         FROM json_to_recordset($1) AS new (shop uuid, health text, clean text)
         WHERE old.shop = new.shop AND old.health = new.health`,
        [jsonOf(named)],
      );
    }
  }

  /** Deletes blobs that no row names; returns their number. One mail may be for two shops. */
  async blobs(names: readonly string[]): Promise<number> {
    const gone = await this.#database.query(
      `DELETE FROM blob WHERE name = ANY ($1)
         AND NOT EXISTS (SELECT FROM entry WHERE entry.blob = name)
         AND NOT EXISTS (SELECT FROM upload WHERE upload.blob = name) RETURNING 1`,
      [names],
    );
    return gone.length;
  }

  async rest(kind: RestKind): Promise<readonly string[]> {
    const rows = await this.#database.query<{ name: string }>(
      'SELECT name FROM erasure_rest WHERE kind = $1 ORDER BY name',
      [kind],
    );
    return rows.map(({ name }) => name);
  }

  async forgetRest(kind: RestKind, names: readonly string[]): Promise<void> {
    await this.#database.query('DELETE FROM erasure_rest WHERE kind = $1 AND name = ANY ($2)', [
      ...[kind, names],
    ]);
  }
}
