import { randomBytes } from 'node:crypto';
import type { EntryId } from '../../domain/ids.ts';
import type { BlobStore } from '../blobs.ts';
import { eraserOf, type ErasureSite } from '../cold/eraser.ts';
import { statement } from '../cold/operation.ts';
import type { Eraser, Purged, StoredName, TracedEntry } from '../erasure.ts';
import { tablesOf } from '../tables.ts';
import { isUnnamed } from './blobs.ts';
import { DIALECT, runOn } from './cold-operations.ts';
import type { Database } from './connection.ts';
import {
  ADD_ERASURE_KEY,
  dedupKeyHash,
  ERASED_HASH,
  erasureKeyRow,
  remoteIdHash,
} from './erased-keys.ts';
import { REFRESH } from './lanes.ts';
import { nameLocks } from './names.ts';
import { deleteParts } from './retention.ts';
import { LOOPS_BY_INDEX, NEVER, sqlFunction } from './schema.ts';

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
     ${deleteParts('raw')}
     ${deleteParts('entry')}
     DELETE FROM card WHERE seq = ANY (seqs);
     -- The key of a lane is a hash of the person's address.
     DELETE FROM lane WHERE key = ANY (keys) AND head IS NULL AND NOT owned
       AND NOT EXISTS (SELECT FROM job WHERE job.lane = lane.key);
     RETURN QUERY SELECT unnest(kept);
   END $$`,
);

/** All tables that an erasure deletes from or changes, and a few others. */
const TOUCHED = [
  ...Object.values(tablesOf('postgres')),
  ...['job', 'lane', 'outcome', 'remote', 'card', 'dirty', 'blob', 'blob_chunk', 'sender_rate'],
];

type Blobs = BlobStore & { sweep(): Promise<number> };

/** Opens what erases people from the database of all gateways. */
export const openEraser = (database: Database, blobs: Blobs): Eraser =>
  eraserOf(new PostgresSite(database, blobs));

class PostgresSite implements ErasureSite {
  readonly dialect = DIALECT;
  readonly reasons = ['job', 'outcome', 'move'];
  readonly counts = ['sender_count', 'sender_rate'];
  readonly run;
  readonly #database: Database;
  readonly #blobs: Blobs;

  constructor(database: Database, blobs: Blobs) {
    this.#database = database;
    this.#blobs = blobs;
    this.run = runOn(database);
  }

  /** Makes the key of the hashes, unless the database has one. */
  async begin(): Promise<void> {
    await this.#database.query(ADD_ERASURE_KEY, erasureKeyRow(randomBytes(32)));
  }

  async hashOf(identity: string): Promise<string> {
    await this.begin();
    const hash = await this.#database.value<string>(`SELECT ${ERASED_HASH.name}('person', $1)`, [
      Buffer.from(identity),
    ]);
    if (hash === undefined) throw new Error('the database has a key');
    return hash.replaceAll('-', '');
  }

  async eraseEntries(
    entries: readonly TracedEntry[],
    inFlight: 'keep' | 'take',
  ): Promise<readonly TracedEntry[]> {
    const rows = await this.#database.query<{ id: EntryId }>(
      `SELECT id FROM ${ERASE_ENTRIES.name}($1::uuid[], $2) AS id`,
      [entries.map(({ id }) => id), inFlight === 'take'],
    );
    const left = new Set(rows.map(({ id }) => id));
    return entries.filter(({ id }) => left.has(id));
  }

  lockNames(names: readonly StoredName[]) {
    return nameLocks(names).map((key) => statement('SELECT pg_advisory_xact_lock($1)', key));
  }

  async deleteBlobs(names: readonly string[]): Promise<number> {
    let deleted = 0;
    // One at a time: a blob may have thousands of chunks.
    for (const name of names) {
      const gone = await this.#database.query(
        `DELETE FROM blob WHERE name = $1 AND ${isUnnamed('blob.name')} RETURNING 1`,
        [name],
      );
      deleted += gone.length;
    }
    return deleted;
  }

  /** Blobs that were being written a day ago and that nothing names. */
  async sweepTemporary(): Promise<void> {
    await this.#blobs.sweep();
  }

  /**
   * Frees the space of deleted rows (VACUUM). The server keeps their bytes until it uses the space
   * again, and its log, its standbys and its backups keep them for as long as they are configured to.
   */
  async purge(): Promise<Readonly<Record<string, Purged>>> {
    const client = await this.#database.connectAlone({});
    // Tables of another owner are skipped with a warning.
    const warnings: unknown[] = [];
    client.on('notice', (notice) => {
      if (notice.severity === 'WARNING') warnings.push(notice);
    });
    try {
      await client.query(`VACUUM ${TOUCHED.join(', ')}`);
    } finally {
      await client.end();
    }
    return { database: warnings.length > 0 ? 'not_vacuumed' : 'vacuumed' };
  }

  /** The connections are the store's. */
  close(): void {
    return undefined;
  }
}
