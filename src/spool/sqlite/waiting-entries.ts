import type { Clock } from '../../runtime/clock.ts';
import type { ShopId } from '../../domain/ids.ts';
import { FIRST_REFUSAL_NUMBER, WAITS_FOR } from '../entry.ts';
import type { Repaired, RepairRequest } from '../spool.ts';
import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';
import type { LaneHeads } from './lane-heads.ts';

/** Entries that wait for a time or for their shop, and repairs of such waits. */
export class WaitingEntries {
  readonly #clock: Clock;
  readonly #lanes: LaneHeads;
  readonly #sql;

  constructor(db: Db, clock: Clock, lanes: LaneHeads) {
    this.#clock = clock;
    this.#lanes = lanes;
    this.#sql = prepare(db);
  }

  hasten(shop: ShopId, spreadMs: number, failedSince?: number): number {
    const [now, since] = [this.#clock(), failedSince ?? null];
    return this.#sql.hasten.run({ shop, now, since, spreadMs: Math.max(1, spreadMs) }).changes;
  }

  releaseWaiting(shopId: ShopId, waitsFor: number): number {
    return this.#sql.releaseWaiting.run(shopId, waitsFor).changes;
  }

  repair({ shops, lanesAfter }: RepairRequest): Repaired {
    const { upTo, repaired } = this.#lanes.repairSome(lanesAfter);
    return {
      lanesUpTo: upTo,
      lanes: repaired,
      due: shops.flatMap(({ shopId }) =>
        this.#sql.due.get(shopId, this.#clock()) === undefined ? [] : [shopId],
      ),
      released: shops.reduce((sum, shop) => sum + this.#releaseRefusals(shop), 0),
    };
  }

  #releaseRefusals({ shopId, refusals }: RepairRequest['shops'][number]): number {
    const waited = this.#sql.refusalsWaitedFor.all(shopId).map(({ waits }) => waits);
    return waited
      .filter((number) => !refusals.includes(number))
      .reduce((sum, number) => sum + this.releaseWaiting(shopId, number), 0);
  }
}

function prepare(db: Db) {
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
    releaseWaiting: db.prepare(
      `UPDATE entries SET waits = ${WAITS_FOR.shop} WHERE ${waiting} AND waits = ?`,
    ),
    refusalsWaitedFor: db.prepare<[string], Pick<EntryRow, 'waits'>>(
      `SELECT DISTINCT waits FROM entries WHERE ${waiting} AND waits >= ${FIRST_REFUSAL_NUMBER}`,
    ),
  };
}
