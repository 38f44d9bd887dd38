import type { EntryId } from '../../domain/ids.ts';
import { RESERVED_KEPT_MS, UPLOAD_KEPT_MS } from '../chat-rows.ts';
import type { Retention } from '../spool.ts';
import { AUDIT_KEPT_MS, type SweptRows } from '../sweep.ts';
import { partsOf } from '../tables.ts';
import { isUnnamed } from './blobs.ts';
import type { Database } from './connection.ts';
import { SPAN_BITS } from './cards.ts';
import { REFRESH } from './lanes.ts';
import { NEVER, NOW, sqlFunction } from './schema.ts';

/** Rows per call: a call holds their locks until it has committed. */
const ROWS_PER_CALL = 500;
const INSTANCE_KEPT_MS = 24 * 60 * 60 * 1000;
/** Every budget is full again after an hour. */
const BUDGET_KEPT_MS = 2 * 60 * 60 * 1000;

/** Deletes what goes with the entries of `seqs`, or with their raw forms. */
export const deleteParts = (whole: 'raw' | 'entry'): string =>
  partsOf('postgres', whole)
    .map((table) => `DELETE FROM ${table} WHERE seq = ANY (seqs);`)
    .join(' ');

/**
 * Deletes some of what is kept no longer. Rows that another gateway sweeps are skipped.
 * `unused` are the blobs that the deleted rows named and no other row does.
 */
const SWEEP = sqlFunction(
  'sweep',
  `(raw_ms bigint, dead_ms bigint, entries_ms bigint,
    OUT raws int, OUT entries int, OUT unused text[], OUT more boolean) LANGUAGE plpgsql AS $$
   DECLARE
     now bigint := ${NOW.name}();
     seqs bigint[];
     named text[];
     lanes int;
     lines int;
     guests int;
     uploads int;
   BEGIN
     seqs := ARRAY(SELECT seq FROM outcome
       WHERE has_raw AND settled_at IS NOT NULL AND settled_at < now - raw_ms
         AND (state IN ('delivered', 'discarded') OR settled_at < now - dead_ms)
       LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED);
     raws := cardinality(seqs);
     UPDATE outcome SET has_raw = false WHERE seq = ANY (seqs);
     ${deleteParts('raw')}
     named := ARRAY(SELECT DISTINCT blob FROM entry WHERE seq = ANY (seqs) AND blob IS NOT NULL);
     UPDATE entry SET blob = NULL WHERE seq = ANY (seqs) AND blob IS NOT NULL;
     WITH gone AS (DELETE FROM upload WHERE entry IN (SELECT id FROM entry WHERE seq = ANY (seqs))
       RETURNING blob)
       SELECT named || array_agg(blob) INTO named FROM gone;

     seqs := ARRAY(SELECT seq FROM outcome
       WHERE NOT has_raw AND settled_at IS NOT NULL AND settled_at < now - entries_ms
       LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED);
     entries := cardinality(seqs);
     ${deleteParts('entry')}
     DELETE FROM remote WHERE seq = ANY (seqs);
     DELETE FROM outcome WHERE seq = ANY (seqs);
     DELETE FROM entry WHERE seq = ANY (seqs);
     -- Last: who writes a card has locked its entry (cards.ts).
     DELETE FROM card WHERE seq = ANY (seqs);
     IF entries > 0 THEN
       DELETE FROM card_span WHERE span < (SELECT min(seq) >> ${SPAN_BITS} FROM entry);
     END IF;

     -- From here on nothing waits for a lock: a merge of visitors holds uploads and lines.
     WITH gone AS (DELETE FROM upload WHERE id = ANY (ARRAY(
         SELECT id FROM upload WHERE entry IS NULL AND at < now - ${UPLOAD_KEPT_MS}
         LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED)) RETURNING blob)
       SELECT named || array_agg(blob), count(*) INTO named, uploads FROM gone;
     DELETE FROM journal WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM journal WHERE at < now - entries_ms
       LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED));
     GET DIAGNOSTICS lines = ROW_COUNT;
     DELETE FROM visitor WHERE no = ANY (ARRAY(
       SELECT no FROM visitor WHERE reserved AND created_at < now - ${RESERVED_KEPT_MS}
       LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED));
     GET DIAGNOSTICS guests = ROW_COUNT;
     unused := ARRAY(SELECT DISTINCT gone.name FROM unnest(named) AS gone (name)
       WHERE ${isUnnamed('gone.name')});

     DELETE FROM lane WHERE key = ANY (ARRAY(
       SELECT key FROM lane WHERE waits = 0 AND due_at = ${NEVER} AND head IS NULL
       LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED));
     GET DIAGNOSTICS lanes = ROW_COUNT;
     DELETE FROM audit WHERE no = ANY (ARRAY(
       SELECT no FROM audit ORDER BY no LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED))
       AND at < now - ${AUDIT_KEPT_MS};
     DELETE FROM instance WHERE seen_at < now - ${INSTANCE_KEPT_MS};
     DELETE FROM budget WHERE at < now - ${BUDGET_KEPT_MS};
     more := ${ROWS_PER_CALL} IN (raws, entries, lanes, lines, guests, uploads);
   END $$`,
);

/**
 * Returns what an earlier process of this gateway had in flight to the queue; other gateways' leases are
 * theirs. A delay is limited to the longest that is ever intended.
 */
const RECOVER = sqlFunction(
  'recover',
  `(instance text) RETURNS int LANGUAGE plpgsql AS $$
   DECLARE
     now bigint := ${NOW.name}();
     hour constant bigint := 3600000;
     keys bigint[];
     requeued int;
   BEGIN
     keys := ARRAY(SELECT key FROM lane WHERE owned AND owner = instance
       OR NOT owned AND head IS NOT NULL AND due_at > now + hour
       ORDER BY key FOR UPDATE);
     requeued := (SELECT count(*) FROM lane WHERE key = ANY (keys) AND owned);
     UPDATE job SET next_at = least(next_at, now + hour), unended = unended OR lane.owned FROM lane WHERE lane.key = ANY (keys) AND job.seq = lane.head;
     PERFORM ${REFRESH.name}(keys, true);
     RETURN requeued;
   END $$`,
);

/** Sweeps old rows, and recovers what an earlier process of this gateway left. */
export const retentionTable = (database: Database) => ({
  sweep: async ({ rawMs, deadMs, entriesMs }: Retention): Promise<SweptRows> => {
    const values = [rawMs, deadMs, entriesMs];
    const [row] = await database.query<SweptRows>(
      `SELECT * FROM ${SWEEP.name}($1, $2, $3)`,
      values,
    );
    if (row === undefined) throw new Error('the sweep answers with one row');
    return row;
  },
  requeueOwn: async (instance: string): Promise<number> =>
    (await database.value<number>(`SELECT ${RECOVER.name}($1)`, [instance])) ?? 0,
  /** Entries whose blob somebody has deleted from the database. */
  withoutBlob: async (): Promise<readonly EntryId[]> => {
    const rows = await database.query<{ id: EntryId }>(
      `SELECT id FROM (
         SELECT blob, id FROM entry WHERE blob IS NOT NULL
         UNION ALL SELECT blob, entry FROM upload WHERE entry IS NOT NULL
       ) AS named WHERE NOT EXISTS (SELECT FROM blob WHERE name = named.blob AND chunks > 0)`,
    );
    return rows.map(({ id }) => id);
  },
});
