import { isMoveAllowed } from '../../domain/entry-state.ts';
import type { EntryId } from '../../domain/ids.ts';
import type { StoreContext } from './context.ts';
import type { Db } from './database.ts';
import { type EntryRow, INSERT_STEPS } from './entry-row.ts';
import type { EntryTable } from './entry-table.ts';

/**
 * Operators' moves of single entries, and their undo (`domain/entry-state.ts`). PostgreSQL has a function of
 * its own: a move there takes rows from one table to another, under the locks of the entry's lanes.
 */
export class OperatorMoves {
  readonly #context: StoreContext;
  readonly #entries: Pick<EntryTable, 'fileLane'>;
  readonly #sql;

  constructor(context: StoreContext, entries: Pick<EntryTable, 'fileLane'>) {
    this.#context = context;
    this.#entries = entries;
    this.#sql = prepare(context.db);
  }

  requeue(id: EntryId, by?: string): boolean {
    const row = this.#movable(id);
    if (row === undefined) return false;
    const isRelease = isMoveAllowed('release', row.state);
    if (!isRelease && !isMoveAllowed('retry', row.state)) return false;
    // Retried twice before an attempt, it is taken back to where it was before the first.
    if (row.state !== 'queued') this.#sql.rememberMove.run({ seq: row.seq, move: 'requeued' });
    // A fresh entry is due already and is filed in its turn.
    if (row.filed === 1) {
      const released = isRelease ? 1 : row.released;
      this.#sql.requeue.run({ now: this.#context.clock(), seq: row.seq, released });
    }
    this.#moved(row, 'requeued', by);
    return true;
  }

  discard(id: EntryId, by?: string): boolean {
    const row = this.#movable(id);
    if (row === undefined || !isMoveAllowed('discard', row.state)) return false;
    this.#sql.rememberMove.run({ seq: row.seq, move: 'discarded' });
    this.#sql.discard.run({ now: this.#context.clock(), seq: row.seq });
    this.#moved(row, 'discarded', by);
    return true;
  }

  /** False: it is not discarded, its raw form was swept, or its earlier state is unknown. */
  restore(id: EntryId, by?: string): boolean {
    return this.#moveBack(id, 'restored', by);
  }

  /** False: an attempt has claimed it since, or it was moved otherwise. */
  takeBack(id: EntryId, by?: string): boolean {
    return this.#moveBack(id, 'taken_back', by);
  }

  #moveBack(id: EntryId, step: 'restored' | 'taken_back', by: string | undefined): boolean {
    const row = this.#movable(id);
    if (row?.state !== (step === 'restored' ? 'discarded' : 'queued')) return false;
    const move = this.#sql.move.get(row.seq, step === 'restored' ? 'discarded' : 'requeued');
    // Every claim raises the entry's generation.
    const isLast = step === 'restored' || move?.generation === row.generation;
    if (move === undefined || !isLast) return false;
    this.#sql.moveBack.run({ seq: row.seq });
    this.#sql.forgetMove.run(row.seq);
    this.#moved(row, step, by);
    return true;
  }

  /** The entry, if its raw form is kept and can be submitted. */
  #movable(id: EntryId): EntryRow | undefined {
    // One whose lease has ended is queued again, although no claim has looked since.
    this.#sql.endLease.run(id, this.#context.clock());
    const row = this.#sql.byId.get(id);
    return row?.has_raw === 0 ? undefined : row;
  }

  /** Updates the entry's lane, its timeline and `changes`. */
  #moved(row: EntryRow, step: string, by: string | undefined): void {
    const { seq, lane_hash } = row;
    const at = this.#context.clock();
    const made = { at, step, ...(by !== undefined && { detail: { by } }) };
    // Fresh entries of the lane may precede this one.
    this.#entries.fileLane(row);
    this.#context.lanes.refresh({ lane_hash });
    this.#sql.insertSteps.run({ seq, at, steps: JSON.stringify([made]) });
    this.#sql.insertChange.run(seq);
  }
}

function prepare(db: Db) {
  const before = `state, reason, settled_at, last_attempt_at, next_attempt_at, attempts, failing_ms,
         detached, released`;
  const notesOf = `CASE WHEN lease_until > 0
    THEN json_set(coalesce(notes, '{}'), '$.unended', json('true')) ELSE notes END`;
  return {
    byId: db.prepare<[string], EntryRow>(`SELECT * FROM entries WHERE id = ?`),
    endLease: db.prepare<[string, number]>(
      `UPDATE entries SET state = 'queued' WHERE id = ? AND state = 'delivering' AND lease_until < ?`,
    ),
    // Due by the claiming process's clock, too: a command's clock may be ahead of the gateway's.
    requeue: db.prepare(
      `UPDATE entries SET state = 'queued', in_lane = 1, claimable = 0, detached = 0, lease_until = NULL,
         released = @released, attempts = 0, failures = 0, failing_ms = 0, waits = 0,
         notes = json_set(${notesOf}, '$.restarted', json('true')),
         next_attempt_at = min(@now, max(received_at, last_attempt_at)),
         settled_at = NULL
       WHERE seq = @seq`,
    ),
    discard: db.prepare(
      `UPDATE entries SET state = 'discarded', filed = 1, in_lane = 0, claimable = 0,
         waits = 0, lease_until = NULL, notes = ${notesOf}, last_attempt_at = @now, settled_at = @now
       WHERE seq = @seq`,
    ),
    rememberMove: db.prepare(
      `INSERT OR REPLACE INTO moves (seq, move, generation, ${before})
       SELECT seq, @move, generation, ${before} FROM entries WHERE seq = @seq`,
    ),
    move: db.prepare<[number, string], Pick<EntryRow, 'generation'>>(
      `SELECT generation FROM moves WHERE seq = ? AND move = ?`,
    ),
    // `filed` is kept: a discard has filed a fresh entry. A detached entry is in no lane.
    moveBack: db.prepare(
      `UPDATE entries SET (${before}) = (SELECT ${before} FROM moves AS was WHERE was.seq = @seq), waits = 0,
         in_lane = (moves.state = 'queued' AND moves.detached = 0 AND entries.filed = 1),
         claimable = (moves.state = 'queued' AND moves.detached = 1)
       FROM moves WHERE entries.seq = @seq AND moves.seq = @seq`,
    ),
    forgetMove: db.prepare(`DELETE FROM moves WHERE seq = ?`),
    insertSteps: db.prepare(INSERT_STEPS),
    insertChange: db.prepare(`INSERT INTO changes (seq) VALUES (?)`),
  };
}
