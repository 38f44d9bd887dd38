import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';

/** Lanes per call: acknowledgements of other callers wait for the call. */
const LANES_PER_LOOK = 1000;

type Seq = Pick<EntryRow, 'seq'>;
/** An entry of the lane. */
type OfLane = Pick<EntryRow, 'lane_hash'>;

/**
 * Maintains the heads of lanes. Invariant: of each lane, the first entry that is filed, `queued` or
 * `delivering`, and not detached is claimable, and no other.
 */
export class LaneHeads {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = prepare(db);
  }

  has({ lane_hash: laneHash }: OfLane): boolean {
    return this.#sql.head.get({ laneHash }) !== undefined;
  }

  /** Call it when the head, the only claimed entry of its lane, has left: promotes the next one. */
  promoteNext({ lane_hash: laneHash }: OfLane): void {
    const head = this.#sql.head.get({ laneHash });
    if (head !== undefined) this.#sql.makeClaimable.run(head.seq);
  }

  /**
   * Recomputes the head after an operator moved an entry, which may now precede the current head.
   * Reads the whole lane, so it must not be called for every message.
   */
  refresh({ lane_hash: laneHash }: OfLane): void {
    const head = this.#sql.inFlight.get({ laneHash }) ?? this.#sql.head.get({ laneHash });
    this.#sql.unclaim.run({ laneHash, head: head?.seq ?? 0 });
    if (head !== undefined) this.#sql.makeClaimable.run(head.seq);
  }

  /** Repairs the lanes of one portion that do not have exactly one claimable entry. */
  repairSome(after: number): { readonly upTo: number | undefined; readonly repaired: number } {
    const rows = this.#sql.after.all(after, LANES_PER_LOOK);
    const broken = rows.filter(({ ready }) => ready !== 1);
    for (const row of broken) this.refresh(row);
    return {
      upTo: rows.length < LANES_PER_LOOK ? undefined : rows.at(-1)?.lane_hash,
      repaired: broken.length,
    };
  }
}

function prepare(db: Db) {
  interface LaneParams {
    readonly laneHash: number;
  }
  const lane = `lane_hash = @laneHash AND in_lane = 1`;
  return {
    inFlight: db.prepare<[LaneParams], Seq>(
      `SELECT seq FROM entries WHERE ${lane} AND +state = 'delivering' LIMIT 1`,
    ),
    head: db.prepare<[LaneParams], Seq>(
      `SELECT seq FROM entries WHERE ${lane} ORDER BY seq LIMIT 1`,
    ),
    unclaim: db.prepare(
      `UPDATE entries SET claimable = 0 WHERE ${lane} AND claimable = 1 AND seq <> @head`,
    ),
    makeClaimable: db.prepare(`UPDATE entries SET claimable = 1 WHERE seq = ?`),
    after: db.prepare<[number, number], { lane_hash: number; ready: number }>(
      `SELECT lane_hash, sum(claimable) AS ready FROM entries
       WHERE in_lane = 1 AND lane_hash > ? GROUP BY lane_hash ORDER BY lane_hash LIMIT ?`,
    ),
  };
}
