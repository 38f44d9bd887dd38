import type { Channel } from '../types/channel.ts';
import type { BlobName, EntryId, ShopId } from '../types/ids.ts';

/**
 * The states of an entry.
 *
 * ```
 *            accept                    claim
 *   (adapter) ────▶ queued ──────────────────────▶ delivering
 *      │               ▲  retry later, lease ran out   │
 *      │               └───────────────────────────────┤
 *      │ accept with hold                              ├──▶ delivered   the platform has it
 *      └──────────────▶ held ◀─────────────────────────┤    dead        needs an operator
 *                       │ release ▶ queued             └──▶ suppressed  kept, not submitted
 *                       └ discard ▶ discarded
 * ```
 *
 * An operator moves `dead` (retry), `held` and `suppressed` (release) back to `queued`, and
 * anything that is not `delivered` or `delivering` to `discarded`.
 */
export type EntryState =
  'queued' | 'delivering' | 'delivered' | 'dead' | 'held' | 'suppressed' | 'discarded';

export const ENTRY_STATES: readonly EntryState[] = [
  'queued',
  'delivering',
  'delivered',
  'dead',
  'held',
  'suppressed',
  'discarded',
];

/**
 * What arrived, byte for byte. Small ones live in the row, larger ones in a file. The checksum
 * (`raw-checksum.ts`) is absent where an earlier version stored them.
 */
export type RawForm =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array; readonly checksum?: number }
  | {
      readonly kind: 'file';
      readonly blob: BlobName;
      readonly size: number;
      readonly checksum?: number;
    };

/**
 * What kind of request an entry becomes: a customer's message (`POST /messages/`) or a line on a
 * contact's timeline (`POST /events/`).
 */
export type EntryKind = 'message' | 'event';

/** What the adapter knows about an arrival beside the raw form. Plain JSON; opaque to the spool. */
export type EntryMeta = Readonly<Record<string, unknown>>;

export interface NewEntry {
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly shopId: ShopId;
  readonly channel: Channel;
  /** Order key: entries of one (shop, channel, lane) reach the platform one after the other. */
  readonly lane: string;
  /** Unique per (shop, channel) for as long as entries are kept. */
  readonly dedupKey: string;
  /** The `message.remote_id` to submit with. */
  readonly remoteId: string;
  /** Email: taken instead of `remoteId` when another email of this shop already has that. */
  readonly remoteIdIfTaken?: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly meta: EntryMeta;
  readonly raw: RawForm;
  /** Accept straight into `held`, with this reason. */
  readonly hold?: string;
}

export interface Accepted {
  /** The entry that stands for this message: the new one, or the one that came first. */
  readonly id: EntryId;
  readonly duplicate: boolean;
}

/** Proof of a claim. Settling with a generation that is no longer the entry's changes nothing. */
export interface Lease {
  readonly id: EntryId;
  readonly generation: number;
}

/** An entry as the store tells it; the raw form is read apart (`Spool.raw`). */
export interface Entry {
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly lane: string;
  readonly remoteId: string;
  readonly receivedAt: number;
  readonly meta: EntryMeta;
  readonly state: EntryState;
  /** Attempts that counted: those made while the breaker was open do not. */
  readonly attempts: number;
  /** Milliseconds of failing that count toward `giveUpAfter`; outages of the whole shop do not. */
  readonly failingMs: number;
  /** When the last attempt ended, 0 before the first. */
  readonly lastAttemptAt: number;
  /** When a queued entry may be claimed. */
  readonly nextAttemptAt: number;
  /** A poison message that lets its lane pass. */
  readonly detached: boolean;
  /** Why it is dead, held or suppressed, or what the last attempt failed with. */
  readonly reason?: string;
  readonly settledAt?: number;
  readonly platformMessageId?: string;
  readonly conversationId?: string;
  /** Size of the raw form in bytes; the bytes themselves may be swept. */
  readonly rawSize: number;
}

/** A file that the platform has. */
export interface SavedMedia {
  readonly id: string;
  /** Where everybody can read it, if anybody may. */
  readonly url?: string;
}

export interface Claimed {
  readonly entry: Entry;
  readonly lease: Lease;
  readonly raw: RawForm;
  /** What earlier attempts uploaded, by attachment part. */
  readonly media: ReadonlyMap<string, SavedMedia>;
  /** An operator released it: classification no longer applies. */
  readonly released: boolean;
}

/** One step of an entry's timeline. `detail` never holds bodies, subjects, addresses or secrets. */
export interface TimelineStep {
  readonly at: number;
  readonly step: string;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/** What an attempt came to. */
export type Outcome =
  | {
      readonly state: 'delivered';
      readonly platformMessageId?: string;
      readonly conversationId?: string;
    }
  | {
      readonly state: 'queued';
      readonly nextAttemptAt: number;
      readonly reason: string;
      /** False when the failure is an outage of the shop: it uses up no attempt. */
      readonly counts: boolean;
      /** Added to the entry's `failingMs`. */
      readonly failingMs: number;
      /** From now on a poison message: the lane goes on without it. */
      readonly detach: boolean;
    }
  | { readonly state: 'dead' | 'held' | 'suppressed'; readonly reason: string };
