import type { Db } from './database.ts';
import type { EntryRow as CommonEntryRow } from '../entry-row.ts';
import { SUMMARY_VERSION } from '../stored-form.ts';

/** A row of `entries`. */
export interface EntryRow extends CommonEntryRow {
  readonly lane_hash: number;
  readonly dedup_hash: Uint8Array;
  readonly filed: number;
  readonly claimable: number;
  readonly detached: number;
  readonly released: number;
  readonly generation: number;
  /**
   * When the claim of this generation ends, or ended without an outcome. 0: its outcome is written.
   * Null before the first claim, and after an operator moved the entry.
   */
  readonly lease_until: number | null;
  readonly notes: string | null;
  readonly has_raw: number;
}

export const INSERT_STEPS = `INSERT INTO timeline (seq, no, at, steps)
  VALUES (@seq, coalesce((SELECT max(no) FROM timeline WHERE seq = @seq), 0) + 1, @at, @steps)`;
const FRESH_COLUMNS = 'seq, id, shop, channel, lane_hash, dedup_hash, remote_id';
/** Fresh entries that one claim files; filing many at once shares the changed index pages. */
export const FILED_PER_CLAIM = 256;

type Seq = Pick<EntryRow, 'seq'>;
/** A row to claim. */
type ReadyRow = Pick<EntryRow, 'seq' | 'lease_until'>;
export type FreshRow = Pick<
  EntryRow,
  'seq' | 'id' | 'shop' | 'channel' | 'lane_hash' | 'dedup_hash' | 'remote_id'
>;
/** What settling needs to know. */
type LeasedRow = Pick<
  EntryRow,
  'seq' | 'state' | 'detached' | 'shop' | 'channel' | 'lane' | 'lane_hash' | 'lease_until'
>;
export interface MediaRow {
  readonly part: string;
  readonly media_id: string;
  readonly url: string | null;
}

/** The statements of `entry-table.ts`. */
export const prepareEntryStatements = (db: Db) => ({
  ...prepareToAccept(db),
  ...prepareToClaim(db),
  ...prepareToSettle(db),
});

function prepareToAccept(db: Db) {
  return {
    insert: db.prepare(
      `INSERT INTO entries (id, kind, shop, channel, lane, lane_hash, dedup_hash, remote_id,
         remote_hash, received_at, meta, state, filed, claimable, detached, next_attempt_at, reason,
         raw_size, blob, raw_checksum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertRaw: db.prepare(`INSERT INTO raws (seq, bytes) VALUES (?, ?)`),
    insertSummary: db.prepare(
      `INSERT INTO summaries (seq, version, "from", "to", subject, more) VALUES (?, ${SUMMARY_VERSION}, ?, ?, ?, ?)`,
    ),
    byDedupHash: db.prepare<[Uint8Array], Pick<EntryRow, 'id'>>(
      `SELECT id FROM entries WHERE dedup_hash = ? AND filed = 1`,
    ),
    freshOf: db.prepare<[string], FreshRow>(
      `SELECT ${FRESH_COLUMNS} FROM entries WHERE filed = 0 AND shop = ? ORDER BY seq
       LIMIT ${FILED_PER_CLAIM}`,
    ),
    anyFresh: db.prepare<[number], FreshRow>(
      `SELECT ${FRESH_COLUMNS} FROM entries WHERE filed = 0 ORDER BY shop, seq LIMIT ?`,
    ),
    freshOfLane: db.prepare<[Pick<EntryRow, 'shop' | 'lane_hash'>], FreshRow>(
      `SELECT ${FRESH_COLUMNS} FROM entries
       WHERE filed = 0 AND shop = @shop AND lane_hash = @lane_hash ORDER BY seq`,
    ),
    file: db.prepare(`UPDATE entries SET filed = 1, in_lane = 1, claimable = ? WHERE seq = ?`),
    fileAndLease: db.prepare<[number, number], EntryRow>(
      `UPDATE entries SET filed = 1, in_lane = 1, claimable = 1, state = 'delivering',
         generation = generation + 1, lease_until = ?
       WHERE seq = ? RETURNING *`,
    ),
    remoteIdTaken: db.prepare<[number, string, string], Seq>(
      `SELECT seq FROM entries
       WHERE remote_hash = ? AND channel = 'email' AND filed = 1 AND remote_id = ? AND shop = ?
       LIMIT 1`,
    ),
  };
}

function prepareToClaim(db: Db) {
  return {
    expireLeases: db.prepare(
      `UPDATE entries SET state = 'queued' WHERE state = 'delivering' AND lease_until < ?`,
    ),
    // "+ 0": SQLite prepares a statement again whenever the value of a bare LIMIT ? is bound.
    due: db.prepare<[string, number, number], ReadyRow>(
      `SELECT seq, lease_until FROM entries
       WHERE shop = ? AND state = 'queued' AND claimable = 1 AND waits = 0 AND next_attempt_at <= ?
       ORDER BY next_attempt_at, seq LIMIT ? + 0`,
    ),
    untried: db.prepare<[string, number, number], ReadyRow>(
      `SELECT seq, lease_until FROM entries
       WHERE shop = ? AND state = 'queued' AND claimable = 1 AND waits = 0 AND next_attempt_at <= ?
         AND failures = 0
       ORDER BY next_attempt_at, seq LIMIT ? + 0`,
    ),
    waiting: db.prepare<[string, number, number, number], ReadyRow>(
      `SELECT seq, lease_until FROM entries
       WHERE shop = ? AND state = 'queued' AND claimable = 1 AND waits > 0 AND waits = ?
         AND next_attempt_at <= ?
       ORDER BY failures, seq LIMIT ? + 0`,
    ),
    lease: db.prepare<[number, number], EntryRow>(
      `UPDATE entries SET state = 'delivering', generation = generation + 1, lease_until = ?
       WHERE seq = ? AND state = 'queued' RETURNING *`,
    ),
    raw: db.prepare<[number], { bytes: Uint8Array }>(`SELECT bytes FROM raws WHERE seq = ?`),
    media: db.prepare<[number], MediaRow>(`SELECT part, media_id, url FROM media WHERE seq = ?`),
    lostRaw: db.prepare(
      `UPDATE entries SET state = 'dead', in_lane = 0, claimable = 0, lease_until = NULL, settled_at = ?,
         reason = ? WHERE seq = ?`,
    ),
    renew: db.prepare(
      `UPDATE entries SET lease_until = ?
       WHERE id = ? AND generation = ? AND state = 'delivering'`,
    ),
  };
}

function prepareToSettle(db: Db) {
  return {
    ofLease: db.prepare<[string, number], LeasedRow>(
      `SELECT seq, state, detached, shop, channel, lane, lane_hash, lease_until FROM entries
       WHERE id = ? AND generation = ?`,
    ),
    delivered: db.prepare(
      `UPDATE entries SET state = 'delivered', in_lane = 0, claimable = 0, lease_until = 0, reason = @caveat,
         notes = NULL, attempts = attempts + 1, last_attempt_at = @now, settled_at = @now,
         platform_message_id = @messageId, conversation_id = @conversationId
       WHERE seq = @seq`,
    ),
    retryLater: db.prepare(
      `UPDATE entries SET state = 'queued', lease_until = 0, next_attempt_at = @next,
         waits = @waits, reason = coalesce(@reason, reason), attempts = attempts + @counts,
         failures = failures + @failed, failing_ms = failing_ms + @failingMs,
         notes = coalesce(@notes, notes), last_attempt_at = @now, in_lane = in_lane * (1 - @detached),
         detached = max(detached, @detached)
       WHERE seq = @seq`,
    ),
    setAside: db.prepare(
      `UPDATE entries SET state = @state, filed = 1, in_lane = 0, claimable = 0,
         lease_until = 0, reason = @reason, attempts = attempts + @counts, last_attempt_at = @now,
         settled_at = @settledAt
       WHERE seq = @seq`,
    ),
    insertSteps: db.prepare(INSERT_STEPS),
    insertRecord: db.prepare(`INSERT OR REPLACE INTO records (seq, body) VALUES (?, ?)`),
    insertMedia: db.prepare(
      `INSERT INTO media (seq, part, media_id, url) VALUES (?, ?, ?, ?)
       ON CONFLICT (seq, part) DO UPDATE SET media_id = excluded.media_id, url = excluded.url`,
    ),
  };
}
