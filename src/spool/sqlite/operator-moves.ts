import type { Clock } from '../../runtime/clock.ts';
import type { EntryId } from '../../domain/ids.ts';
import type { StoredRecord } from '../delivery-record.ts';
import type { EntryState } from '../entry.ts';
import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';
import type { EntryTable } from './entry-table.ts';

/** What an entry was before an operator moved it; written by `EntryTable`. */
interface MoveRow {
  readonly seq: number;
  readonly generation: number;
  readonly state: EntryState;
}

/** Takes back what operators did to single entries, and tells what attempts made of them. */
export class OperatorMoves {
  readonly #clock: Clock;
  readonly #entries: EntryTable;
  readonly #sql;

  constructor(db: Db, clock: Clock, entries: EntryTable) {
    this.#clock = clock;
    this.#entries = entries;
    this.#sql = prepare(db);
  }

  record(id: EntryId): StoredRecord | undefined {
    return this.#sql.record.get(id)?.body;
  }

  /** False: it is not discarded, its raw form was swept, or nobody knows what it was. */
  restore(id: EntryId): boolean {
    const row = this.#sql.byId.get(id);
    if (row?.state !== 'discarded' || row.has_raw === 0) return false;
    return this.#moveBack(row, this.#sql.move.get(row.seq, 'discarded'), 'restored');
  }

  /** False: an attempt has claimed it since, or something else was done with it. */
  takeBack(id: EntryId, to: EntryState, reason: string | undefined): boolean {
    const row = this.#sql.byId.get(id);
    if (row?.state !== 'queued' || row.has_raw === 0) return false;
    const move = this.#sql.move.get(row.seq, 'requeued');
    // Every claim raises the generation.
    if (move?.state !== to || move.generation !== row.generation) return false;
    if (!this.#moveBack(row, move, 'taken_back')) return false;
    if (reason !== undefined) this.#sql.setReason.run(reason, row.seq);
    return true;
  }

  #moveBack(row: EntryRow, move: MoveRow | undefined, step: string): boolean {
    if (move === undefined) return false;
    this.#sql.moveBack.run({ seq: row.seq });
    this.#sql.forgetMove.run(row.seq);
    this.#entries.operatorMoved(row, step, this.#clock());
    return true;
  }
}

function prepare(db: Db) {
  return {
    record: db.prepare<[string], { body: StoredRecord }>(
      `SELECT body FROM records WHERE seq = (SELECT seq FROM entries WHERE id = ?)`,
    ),
    byId: db.prepare<[string], EntryRow>(`SELECT * FROM entries WHERE id = ?`),
    move: db.prepare<[number, string], MoveRow>(
      `SELECT seq, generation, state FROM moves WHERE seq = ? AND move = ?`,
    ),
    // A fresh entry that was moved was filed by it: `filed` stays. A detached one is in no lane.
    moveBack: db.prepare(
      `UPDATE entries SET state = moves.state, reason = moves.reason,
         settled_at = moves.settled_at, last_attempt_at = moves.last_attempt_at,
         next_attempt_at = moves.next_attempt_at, attempts = moves.attempts,
         failing_ms = moves.failing_ms, detached = moves.detached, released = moves.released,
         waits = 0, notes = NULL,
         in_lane = (moves.state = 'queued' AND moves.detached = 0 AND entries.filed = 1),
         claimable = (moves.state = 'queued' AND moves.detached = 1)
       FROM moves WHERE entries.seq = @seq AND moves.seq = @seq`,
    ),
    setReason: db.prepare(`UPDATE entries SET reason = ? WHERE seq = ?`),
    forgetMove: db.prepare(`DELETE FROM moves WHERE seq = ?`),
  };
}
