import type { Accepted, EntryMeta, RawForm } from '../spool/entry.ts';
import type { Channel } from '../types/channel.ts';
import type { ShopId } from '../types/ids.ts';

/** One message for one shop, as a channel adapter hands it over. */
export interface Arrival {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly lane: string;
  readonly dedupKey: string;
  readonly remoteId: string;
  readonly remoteIdIfTaken?: string;
  readonly meta: EntryMeta;
  readonly raw: RawForm;
  /** When it reached us, or when it was sent if it was found later (SMS reconciliation). */
  readonly receivedAt?: number;
  /** Goes straight to `held`, with this reason (postmaster mail, two From lines). */
  readonly hold?: string;
}

/**
 * The one door behind all adapters. Resolves when every arrival is durable; only then may the
 * adapter acknowledge. The arrivals of one call are stored together or not at all: a message for
 * two shops is never half accepted.
 * @throws {SpoolFull} {SpoolUnavailable} nothing was stored, the sender should try again
 */
export interface Intake {
  accept(arrivals: readonly Arrival[]): Promise<readonly Accepted[]>;
}
