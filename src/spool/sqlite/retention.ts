import type { BlobName, EntryId } from '../../domain/ids.ts';
import { RESERVED_KEPT_MS, UPLOAD_KEPT_MS } from '../chat-rows.ts';
import type { Retention } from '../spool.ts';
import { AUDIT_KEPT_MS, type SweptRows } from '../sweep.ts';
import { partsOf } from '../tables.ts';
import type { StoreContext } from './context.ts';
import type { Db } from './database.ts';
import { deletionsOf, unnamedBlobs } from './deletions.ts';
import { IN_OPEN_INDEX } from './entry-queries.ts';

/**
 * The delay set after the last failure, in milliseconds, at most an hour; 0 for an entry that was
 * never tried.
 */
const MEANT_TO_WAIT = `CASE last_attempt_at WHEN 0 THEN 0
  ELSE min(3600000, max(0, next_attempt_at - last_attempt_at)) END`;
/** Rows per call: the batch's transaction also holds acknowledgements of other callers. */
const ROWS_PER_CALL = 200;
/** Rows of `changes` to keep; an index that is further behind reads every entry. */
const CHANGES_KEPT = 1_000_000;

/**
 * Sweeps old rows and recovers what the previous process left. PostgreSQL has statements of its own: an
 * entry is several rows there, and gateways sweep at once.
 */
export class RetentionTable {
  readonly #context: StoreContext;
  readonly #sql;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#sql = prepare(context.db);
  }

  /**
   * Returns entries that were in flight when the last process ended to the queue. Limits each delay
   * to the one that was intended at the last failure, because the clock may be behind the last
   * process's.
   */
  requeueAll(): number {
    const now = this.#context.clock();
    this.#sql.clampSchedule.run({ now });
    const lanes = this.#sql.lanesInFlight.all();
    const { changes } = this.#sql.requeueAll.run();
    for (const lane of lanes) this.#context.lanes.refresh(lane);
    return changes;
  }

  /** All files that rows reference, with an entry that does. */
  namedBlobs(): { blob: BlobName; entry: EntryId | null }[] {
    return this.#sql.namedBlobs.all();
  }

  sweep({ rawMs, deadMs, entriesMs }: Retention): SweptRows {
    const now = this.#context.clock();
    const limit = ROWS_PER_CALL;
    const raws = this.#sql.oldRaws.all({ short: now - rawMs, long: now - deadMs, limit });
    for (const sql of this.#sql.withRaws) sql.run(json(raws.map(({ seq }) => seq)));
    const entries = this.#sql.oldEntries.all({ before: now - entriesMs, limit });
    for (const sql of this.#sql.withEntries) sql.run(json(entries.map(({ seq }) => seq)));
    // One that was discarded before it was claimed is still in memory: its repetition would be a duplicate.
    if (entries.length > 0) this.#context.fresh.read();
    this.#sql.deleteChanges.run(CHANGES_KEPT);
    this.#sql.deleteAudit.run({ before: now - AUDIT_KEPT_MS, limit });
    const deleted = [
      this.#sql.deleteLines.run({ before: now - entriesMs, limit }).changes,
      this.#sql.deleteReserved.run({ before: now - RESERVED_KEPT_MS, limit }).changes,
    ];
    const uploads = [
      ...this.#sql.deleteUploadsOf.all(json([...raws, ...entries].map(({ id }) => id))),
      ...this.#sql.deleteStaleUploads.all({ before: now - UPLOAD_KEPT_MS, limit }),
    ];
    const named = new Set([...raws, ...uploads].flatMap(({ blob }) => blob ?? []));
    return {
      entries: entries.length,
      raws: raws.length,
      unused: this.#sql.unnamed([...named]),
      more: [raws.length, entries.length, uploads.length, ...deleted].some((n) => n >= limit),
    };
  }
}

const LISTED = '(SELECT value FROM json_each(?))';
/** A list for `LISTED`. */
const json = (values: readonly (number | string)[]): string => JSON.stringify(values);

interface Old {
  readonly before: number;
  readonly limit: number;
}

function prepare(db: Db) {
  // Lines are numbered in order of arrival, so the lowest numbers are the oldest.
  const oldest = (table: string, no: string) =>
    db.prepare<[Old]>(
      `DELETE FROM ${table}
       WHERE ${no} IN (SELECT ${no} FROM ${table} ORDER BY ${no} LIMIT @limit) AND at < @before`,
    );
  return {
    clampSchedule: db.prepare(
      `UPDATE entries SET next_attempt_at = @now + ${MEANT_TO_WAIT}
       WHERE state IN ('queued', 'delivering') AND ${IN_OPEN_INDEX}
         AND next_attempt_at > @now + ${MEANT_TO_WAIT}`,
    ),
    lanesInFlight: db.prepare<[], { lane_hash: number }>(
      `SELECT lane_hash FROM entries WHERE state = 'delivering' AND in_lane = 1`,
    ),
    requeueAll: db.prepare(`UPDATE entries SET state = 'queued' WHERE state = 'delivering'`),
    namedBlobs: db.prepare<[], { blob: BlobName; entry: EntryId | null }>(
      `SELECT blob, id AS entry FROM entries WHERE blob IS NOT NULL
       UNION ALL SELECT blob, entry FROM uploads`,
    ),
    unnamed: unnamedBlobs(db),
    oldRaws: db.prepare<
      [{ short: number; long: number; limit: number }],
      { seq: number; id: EntryId; blob: BlobName | null }
    >(
      `SELECT seq, id, blob FROM entries
       WHERE has_raw = 1 AND settled_at IS NOT NULL AND settled_at < @short
         AND (state IN ('delivered', 'discarded') OR settled_at < @long)
       LIMIT @limit`,
    ),
    oldEntries: db.prepare<[Old], { seq: number; id: EntryId }>(
      `SELECT seq, id FROM entries
       WHERE has_raw = 0 AND settled_at IS NOT NULL AND settled_at < @before LIMIT @limit`,
    ),
    withRaws: [
      ...partsOf('sqlite', 'raw').map((table) => `DELETE FROM ${table}`),
      'UPDATE entries SET has_raw = 0, blob = NULL',
    ].map((sql) => db.prepare(`${sql} WHERE seq IN ${LISTED}`)),
    withEntries: deletionsOf(LISTED).map((sql) => db.prepare(sql)),
    deleteChanges: db.prepare(`DELETE FROM changes WHERE no < (SELECT max(no) FROM changes) - ?`),
    deleteAudit: oldest('audit', 'no'),
    deleteLines: oldest('journal', 'line'),
    deleteReserved: db.prepare<[Old]>(
      `DELETE FROM visitors WHERE no IN (
         SELECT no FROM visitors WHERE reserved = 1 AND created_at < @before LIMIT @limit)`,
    ),
    deleteUploadsOf: db.prepare<[string], { blob: BlobName }>(
      `DELETE FROM uploads WHERE entry IN ${LISTED} RETURNING blob`,
    ),
    deleteStaleUploads: db.prepare<[Old], { blob: BlobName }>(
      `DELETE FROM uploads WHERE id IN (
         SELECT id FROM uploads WHERE entry IS NULL AND at < @before LIMIT @limit) RETURNING blob`,
    ),
  };
}
