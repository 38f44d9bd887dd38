import { createHash } from 'node:crypto';
import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import { FIRST_REFUSAL_NUMBER } from './entry.ts';

/** So many lanes within this time make a refusal one that entries wait for. */
export const LANES_ALIKE = 5;
export const WITHIN_MS = 10 * 60_000;
/** After so long without a further entry it is over. */
export const QUIET_MS = 10 * 60_000;
/** Longer than entries wait for their shop: they have had their chance when they are tried again. */
export const ENDED_KEPT_MS = 7 * 24 * 3_600_000;
/** Of the entries of one lane that became dead by one refusal, the latest are known. */
export const MOST_OF_LANE = 25;

export interface RefusalToCount {
  readonly shopId: ShopId;
  /** `refusalNumber` of the words. */
  readonly number: number;
  /** Status, code and field names; never free text. */
  readonly words: string;
  readonly lane: { readonly channel: Channel; readonly lane: string };
  readonly id: EntryId;
  /** The entry has waited for this refusal before. */
  readonly waited: boolean;
}

export interface CountedRefusal {
  /** The entry waits for the refusal's end; otherwise it becomes dead. */
  readonly waits: boolean;
  /** It was the one that reached five lanes. */
  readonly isNew: boolean;
}

/** A refusal that entries wait for. */
export interface SharedRefusal {
  readonly shopId: ShopId;
  readonly number: number;
  readonly words: string;
  readonly since: number;
  readonly count: number;
}

/**
 * Refusals that are not about a single message: within ten minutes, the messages of five lanes got the
 * same status, code and field names, at any of the gateways.
 *
 * ```
 *  counted ──five lanes within ten minutes──▶ waited for ──▶ over
 * ```
 *
 * - waited for: entries with this refusal wait instead of becoming dead. One of them, the canary, is
 *   tried each minute; when it is delivered, the rest are released.
 * - over: the canary was delivered, or no further entry got this refusal for ten minutes. Then each of those
 *   that waited is tried once more, and becomes dead if it is refused again.
 *
 * Other messages are never paused: their answers say nothing about these entries.
 */
export interface SharedRefusals {
  /** Counts a refusal and says what becomes of the entry. */
  countRefusal(refusal: RefusalToCount): Promise<CountedRefusal>;
  /** Those that are waited for. Ends those that no further entry got for ten minutes. */
  refusals(): Promise<readonly SharedRefusal[]>;
  /** The entries that became dead before the refusal reached five lanes; none once it is over. */
  refusedBefore(shopId: ShopId, number: number): Promise<readonly EntryId[]>;
  /** An entry that waited for it was delivered, so the others wait for their shop only. */
  endRefusal(shopId: ShopId, number: number): Promise<void>;
}

/** The same words have the same number in every process. */
export function refusalNumber(words: string): number {
  const hash = createHash('sha256').update(words).digest().readUInt32BE(0);
  return FIRST_REFUSAL_NUMBER + (hash % 1_000_000_000);
}
