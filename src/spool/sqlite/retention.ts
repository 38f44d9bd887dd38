import type { Clock } from '../../runtime/clock.ts';
import type { BlobName, EntryId } from '../../domain/ids.ts';
import { RESERVED_KEPT_MS, UPLOAD_KEPT_MS } from '../chat-rows.ts';
import type { Retention } from '../spool.ts';
import type { Db } from './database.ts';
import { IN_OPEN_INDEX } from './entry-queries.ts';
import type { FreshEntries } from './fresh-entries.ts';
import type { LaneHeads } from './lanes.ts';

/**
 * The delay set after the last failure, in milliseconds, at most an hour; 0 for an entry that was
 * never tried.
 */
const MEANT_TO_WAIT = `CASE last_attempt_at WHEN 0 THEN 0
  ELSE min(3600000, max(0, next_attempt_at - last_attempt_at)) END`;
/** Rows per call: the batch's transaction also holds acknowledgements of other callers. */
const ROWS_PER_CALL = 200;
/** The audit log is kept for more than a year. */
const AUDIT_KEPT_MS = 400 * 24 * 60 * 60 * 1000;
/** Rows of `changes` to keep; an index that is further behind reads every entry. */
const CHANGES_KEPT = 1_000_000;

export interface SweptRows {
  readonly entries: number;
  readonly raws: number;
  /** Files that no row references any more; the caller deletes them after the commit. */
  readonly unused: readonly BlobName[];
  /** Call again: more rows are due than one call takes. */
  readonly more: boolean;
}

interface RetentionParts {
  readonly lanes: Pick<LaneHeads, 'refresh'>;
  readonly fresh: Pick<FreshEntries, 'read'>;
}

/** Sweeps old rows and recovers what the previous process left. */
export class RetentionTable {
  readonly #clock: Clock;
  readonly #parts: RetentionParts;
  readonly #sql;

  constructor(db: Db, clock: Clock, parts: RetentionParts) {
    this.#clock = clock;
    this.#parts = parts;
    this.#sql = prepare(db);
  }

  /**
   * Returns entries that were in flight when the last process ended to the queue. Limits each delay
   * to the one that was intended at the last failure, because the clock may be behind the last
   * process's.
   */
  requeueAll(): number {
    const now = this.#clock();
    this.#sql.clampSchedule.run({ now });
    const lanes = this.#sql.lanesInFlight.all();
    const { changes } = this.#sql.requeueAll.run();
    for (const lane of lanes) this.#parts.lanes.refresh(lane);
    return changes;
  }

  /** All files that rows reference, with an entry that does. */
  namedBlobs(): { blob: BlobName; entry: EntryId | null }[] {
    return this.#sql.namedBlobs.all();
  }

  sweep(retention: Retention): SweptRows {
    const now = this.#clock();
    const raws = this.#sql.oldRaws.all({
      short: now - retention.rawMs,
      long: now - retention.deadMs,
      limit: ROWS_PER_CALL,
    });
    for (const { seq } of raws) {
      this.#sql.deleteRaw.run(seq);
      this.#sql.forgetRaw.run(seq);
      this.#sql.deleteMedia.run(seq);
      this.#sql.deleteRecord.run(seq);
    }
    const entries = this.#sql.oldEntries.all({
      short: now - retention.entriesMs,
      limit: ROWS_PER_CALL,
    });
    for (const { seq, id } of entries) {
      this.#sql.deleteSteps.run(seq);
      this.#sql.deleteUploadsOf.run(id);
      this.#sql.deleteMove.run(seq);
      this.#sql.deleteSummary.run(seq);
      this.#sql.deleteEntry.run(seq);
      this.#sql.insertChange.run(seq);
    }
    // One that was discarded before it was claimed is still in memory: its repetition would be a duplicate.
    if (entries.length > 0) this.#parts.fresh.read();
    this.#sql.deleteChanges.run(CHANGES_KEPT);
    this.#sql.deleteAudit.run({ before: now - AUDIT_KEPT_MS, limit: ROWS_PER_CALL });
    const lines = this.#sql.deleteLines.run({
      before: now - retention.entriesMs,
      limit: ROWS_PER_CALL,
    }).changes;
    const reserved = this.#sql.deleteReserved.run({
      before: now - RESERVED_KEPT_MS,
      limit: ROWS_PER_CALL,
    }).changes;
    const uploads = this.#sql.staleUploads.all(now - UPLOAD_KEPT_MS, ROWS_PER_CALL);
    for (const { id } of uploads) this.#sql.deleteUpload.run(id);
    const usedUploads = raws.flatMap(({ id }) => this.#sql.uploadsOf.all(id));
    for (const { seq } of raws) this.#sql.noBlob.run(seq);
    for (const { id } of raws) this.#sql.deleteUploadsOf.run(id);
    const candidates = [...raws, ...uploads, ...usedUploads].flatMap(({ blob }) => blob ?? []);
    return {
      entries: entries.length,
      raws: raws.length,
      unused: candidates.filter((blob) => !this.isNamed(blob)),
      more: [raws.length, entries.length, uploads.length, lines, reserved].includes(ROWS_PER_CALL),
    };
  }

  isNamed(blob: BlobName): boolean {
    return this.#sql.named.get(blob, blob) !== undefined;
  }
}

function prepare(db: Db) {
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
    named: db.prepare<[string, string]>(
      `SELECT 1 FROM entries WHERE blob = ? UNION ALL SELECT 1 FROM uploads WHERE blob = ? LIMIT 1`,
    ),
    oldRaws: db.prepare<
      [{ short: number; long: number; limit: number }],
      { seq: number; id: EntryId; blob: BlobName | null }
    >(
      `SELECT seq, id, blob FROM entries
       WHERE has_raw = 1 AND settled_at IS NOT NULL AND settled_at < @short
         AND (state IN ('delivered', 'discarded') OR settled_at < @long)
       LIMIT @limit`,
    ),
    oldEntries: db.prepare<[{ short: number; limit: number }], { seq: number; id: EntryId }>(
      `SELECT seq, id FROM entries
       WHERE has_raw = 0 AND settled_at IS NOT NULL AND settled_at < @short LIMIT @limit`,
    ),
    deleteRaw: db.prepare(`DELETE FROM raws WHERE seq = ?`),
    deleteMedia: db.prepare(`DELETE FROM media WHERE seq = ?`),
    deleteRecord: db.prepare(`DELETE FROM records WHERE seq = ?`),
    deleteMove: db.prepare(`DELETE FROM moves WHERE seq = ?`),
    deleteSummary: db.prepare(`DELETE FROM summaries WHERE seq = ?`),
    insertChange: db.prepare(`INSERT INTO changes (seq) VALUES (?)`),
    deleteChanges: db.prepare(`DELETE FROM changes WHERE no < (SELECT max(no) FROM changes) - ?`),
    // Lines are numbered in order of arrival, so the lowest numbers are the oldest.
    deleteAudit: db.prepare(
      `DELETE FROM audit
       WHERE no IN (SELECT no FROM audit ORDER BY no LIMIT @limit) AND at < @before`,
    ),
    forgetRaw: db.prepare(`UPDATE entries SET has_raw = 0 WHERE seq = ?`),
    noBlob: db.prepare(`UPDATE entries SET blob = NULL WHERE seq = ?`),
    deleteSteps: db.prepare(`DELETE FROM timeline WHERE seq = ?`),
    deleteEntry: db.prepare(`DELETE FROM entries WHERE seq = ?`),
    uploadsOf: db.prepare<[string], { blob: BlobName }>(`SELECT blob FROM uploads WHERE entry = ?`),
    deleteUploadsOf: db.prepare(`DELETE FROM uploads WHERE entry = ?`),
    // Lines are numbered in order of arrival, so the lowest numbers are the oldest.
    deleteLines: db.prepare(
      `DELETE FROM journal
       WHERE line IN (SELECT line FROM journal ORDER BY line LIMIT @limit) AND at < @before`,
    ),
    deleteReserved: db.prepare(
      `DELETE FROM visitors WHERE no IN (
         SELECT no FROM visitors WHERE reserved = 1 AND created_at < @before LIMIT @limit)`,
    ),
    staleUploads: db.prepare<[number, number], { id: string; blob: BlobName }>(
      `SELECT id, blob FROM uploads WHERE entry IS NULL AND at < ? LIMIT ?`,
    ),
    deleteUpload: db.prepare(`DELETE FROM uploads WHERE id = ?`),
  };
}
