import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ShopId } from '../../domain/ids.ts';
import { FIRST_REFUSAL_NUMBER, WAITS_FOR } from '../entry.ts';
import type { Repaired, RepairRequest } from '../spool.ts';

/** Lanes per call: acknowledgements of other callers wait for the call. */
const LANES_PER_LOOK = 1000;

type Seq = Pick<EntryRow, 'seq'>;
/** An entry of the lane. */
type OfLane = Pick<EntryRow, 'lane_hash'>;

/**
 * Maintains the heads of lanes. A lane consists of its filed entries that are not detached and are
 * `queued` or `delivering`. Invariant: exactly one of them is claimable: the one that is being
 * delivered, otherwise the first.
 */
export class LaneHeads {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = prepareHeads(db);
  }

  has({ lane_hash: laneHash }: OfLane): boolean {
    return this.#sql.head.get({ laneHash }) !== undefined;
  }

  /** Call it when the head, the only claimed entry of its lane, has left: promotes the next one. */
  promoteNext({ lane_hash: laneHash }: OfLane): void {
    const head = this.#sql.head.get({ laneHash });
    if (head !== undefined) this.#sql.makeClaimable.run(head.seq);
  }

  /** Call it when the claimed entry stays in its lane: an earlier one may have come back meanwhile. */
  promoteFirst({ lane_hash: laneHash, seq }: OfLane & Seq): void {
    const head = this.#sql.head.get({ laneHash });
    if (head === undefined || head.seq === seq) return;
    this.#sql.unclaim.run({ laneHash, head: head.seq });
    this.#sql.makeClaimable.run(head.seq);
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
    const broken = rows.filter(({ claimables }) => claimables !== 1);
    for (const row of broken) this.refresh(row);
    return {
      upTo: rows.length < LANES_PER_LOOK ? undefined : rows.at(-1)?.lane_hash,
      repaired: broken.length,
    };
  }
}

function prepareHeads(db: Db) {
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
    after: db.prepare<[number, number], { lane_hash: number; claimables: number }>(
      `SELECT lane_hash, sum(claimable) AS claimables FROM entries
       WHERE in_lane = 1 AND lane_hash > ? GROUP BY lane_hash ORDER BY lane_hash LIMIT ?`,
    ),
  };
}

/** Entries that wait for a time or for their shop, and repairs of such waits. */
export class WaitingEntries {
  readonly #clock: Clock;
  readonly #lanes: LaneHeads;
  readonly #sql;

  constructor(db: Db, clock: Clock, lanes: LaneHeads) {
    this.#clock = clock;
    this.#lanes = lanes;
    this.#sql = prepareWaits(db);
  }

  hasten(shop: ShopId, spreadMs: number, failedSince?: number): number {
    const [now, since] = [this.#clock(), failedSince ?? null];
    return this.#sql.hasten.run({ shop, now, since, spreadMs: Math.max(1, spreadMs) }).changes;
  }

  waitForShopInstead(shopId: ShopId, waitsFor: number): number {
    return this.#sql.waitForShopInstead.run(shopId, waitsFor).changes;
  }

  repair({ shops, lanesAfter }: RepairRequest): Repaired {
    const { upTo, repaired } = this.#lanes.repairSome(lanesAfter);
    return {
      lanesUpTo: upTo,
      lanes: repaired,
      due: shops.filter((shop) => this.#sql.due.get(shop, this.#clock()) !== undefined),
      released: shops.reduce((sum, shop) => sum + this.#sql.releaseEnded.run(shop).changes, 0),
    };
  }
}

function prepareWaits(db: Db) {
  const waiting = `shop = ? AND state = 'queued' AND claimable = 1 AND waits > 0`;
  return {
    due: db.prepare<[string, number], Pick<EntryRow, 'seq'>>(
      `SELECT seq FROM entries
       WHERE shop = ? AND state = 'queued' AND claimable = 1 AND waits = 0 AND next_attempt_at <= ?
       LIMIT 1`,
    ),
    hasten: db.prepare(
      `UPDATE entries SET next_attempt_at = @now + (seq * 7919) % @spreadMs
       WHERE shop = @shop AND state = 'queued' AND claimable = 1 AND waits = 0
         AND next_attempt_at > @now + @spreadMs
         AND (@since IS NULL OR (detached = 0 AND failures > 0 AND last_attempt_at >= @since))`,
    ),
    waitForShopInstead: db.prepare(
      `UPDATE entries SET waits = ${WAITS_FOR.shop} WHERE ${waiting} AND waits = ?`,
    ),
    releaseEnded: db.prepare(
      `UPDATE entries SET waits = ${WAITS_FOR.shop}
       WHERE ${waiting} AND waits >= ${FIRST_REFUSAL_NUMBER} AND NOT EXISTS (
         SELECT 1 FROM refusals
         WHERE refusals.shop = entries.shop AND number = entries.waits AND ended = 0)`,
    ),
  };
}
