import { SpoolFull, SpoolUnavailable, StoreRefuses } from '../spool/errors.ts';
import type { Lease, Outcome, Settlement } from '../spool/entry.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';
import type { DeliverySpool } from '../spool/spool.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;

interface KeptOutcomeOptions {
  /** Aborted when the time of a stop is over. */
  readonly stopped: AbortSignal;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called when the store has failed for the first time. */
  readonly onKept: () => void;
  /** Called when the store refuses what is written with the outcome, of which only the follow-ups stay. */
  readonly onRefused: (error: unknown) => void;
}

/**
 * The outcome of an attempt until the store has it. The platform may have the message, so an outcome
 * that is lost is a message that may be sent twice. While the store cannot be reached the outcome is
 * written again and again, also past its lease: it counts as long as nobody has claimed the entry.
 * Settling again is harmless (`DeliveryQueue.settle`), so a commit without an answer is repeated.
 */
export class KeptOutcome {
  readonly #spool: Pick<DeliverySpool, 'settle'>;
  readonly #options: KeptOutcomeOptions;
  #lease: Lease;
  #settledUnder: Lease | undefined;
  #begin: (() => void) | undefined;

  constructor(spool: Pick<DeliverySpool, 'settle'>, lease: Lease, options: KeptOutcomeOptions) {
    this.#spool = spool;
    this.#lease = lease;
    this.#options = options;
  }

  /**
   * This gateway has claimed the entry again: the outcome is written under that claim.
   * @param begin makes an attempt under it, if the outcome was written before it, without an answer
   */
  takeOver(lease: Lease, begin: () => void): void {
    this.#lease = lease;
    this.#begin = begin;
  }

  /** Call it after `settle`. */
  end(): void {
    if (this.#settledUnder !== this.#lease) this.#begin?.();
  }

  /**
   * Resolves with whether the outcome counts: not if another gateway has claimed the entry.
   * @throws the store's error once stopped, or when it refuses the outcome itself
   */
  async settle(
    outcome: Outcome,
    settlement: Settlement,
    record: DeliveryRecord | undefined,
  ): Promise<boolean> {
    let written: readonly [Settlement, DeliveryRecord | undefined] = [settlement, record];
    let isAlone = false;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const lease = this.#lease;
      try {
        const isSettled = await this.#spool.settle(lease, outcome, ...written);
        if (isSettled || lease === this.#lease) {
          this.#settledUnder = lease;
          return isSettled;
        }
      } catch (error) {
        if (this.#options.stopped.aborted) throw error;
        if (waitMs === FIRST_WAIT_MS) this.#options.onKept();
        if (!isTemporary(error)) {
          if (isAlone) throw error;
          isAlone = true;
          const { followUps } = settlement;
          written = [{ steps: [], ...(followUps && { followUps }) }, undefined];
          this.#options.onRefused(error);
          continue;
        }
        await this.#pause(waitMs * (1 + this.#options.random()));
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { stopped } = this.#options;
      const end = () => {
        clearTimeout(timer);
        stopped.removeEventListener('abort', end);
        resolve();
      };
      // Not of node:timers/promises: the simulation replaces the global one.
      const timer = setTimeout(end, ms);
      stopped.addEventListener('abort', end);
    });
  }
}

/** Whether the store may take it later. */
export const isTemporary = (error: unknown): boolean =>
  (error instanceof SpoolUnavailable || error instanceof SpoolFull) &&
  !(error instanceof StoreRefuses);
