import type { Channel } from '../domain/channel.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { BlobName, EntryId, ShopId } from '../domain/ids.ts';

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

/**
 * What a list shows of an entry beside the entry itself, made by its channel when it is accepted.
 * Empty texts where nothing is known.
 */
export interface EntrySummary {
  /** Name and address or number of whoever wrote, as the message has them. */
  readonly from: string;
  readonly to: string;
  /** Of an email. */
  readonly subject: string;
}

/** A summary as it is stored with its entry when that is accepted. */
export interface StoredSummary extends EntrySummary {
  /** What else the entry is found by: other addresses of the envelope and of copies. */
  readonly more: string;
}

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
  /** Made by its channel; without it the gateway makes it later. */
  readonly summary?: StoredSummary;
  /** Accept straight into `held`, with this reason. */
  readonly hold?: string;
  /** It never holds its lane back, and is claimed beside it; it keeps the lane's conversation. */
  readonly detached?: boolean;
}

/**
 * What a queued entry waits for: its own time; its shop, until something of it is delivered; the
 * shop's `/media/`, until something is uploaded. Any other number names a refusal that many
 * entries got alike.
 */
export const WAITS_FOR = { time: 0, shop: 1, media: 2 } as const;
export const FIRST_REFUSAL_NUMBER = 3;
const WAITS = ['time', 'shop', 'media'] as const;
export type Wait = (typeof WAITS)[number] | 'refusal';

/** The same in a word, for people and programs. */
export const waitOf = ({ waitsFor }: Pick<Entry, 'waitsFor'>): Wait => WAITS[waitsFor] ?? 'refusal';

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
  /** Attempts that counted: those of an entry that fails while its shop delivers others. */
  readonly attempts: number;
  /** All attempts that failed, whoever was at fault. */
  readonly failures: number;
  /** One of `WAITS_FOR`, or the number of a refusal. */
  readonly waitsFor: number;
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
  /** What earlier attempts noted for this one; opaque to the spool. */
  readonly notes: EntryMeta;
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
      /** What an operator should know of it although it was delivered. */
      readonly caveat?: string;
    }
  | {
      readonly state: 'queued';
      /** Not before this time, whatever it waits for. */
      readonly nextAttemptAt: number;
      /** One of `WAITS_FOR`, or the number of a refusal. */
      readonly waitsFor: number;
      /** Undefined: nothing new; the reason that it has stays. */
      readonly reason: string | undefined;
      /** The attempt failed, whoever was at fault. */
      readonly failed: boolean;
      /** It failed while its shop delivers others: it uses up an attempt. */
      readonly counts: boolean;
      /** Added to the entry's `failingMs`. */
      readonly failingMs: number;
      /** From now on it does not hold its lane back. */
      readonly detach: boolean;
    }
  | { readonly state: 'dead' | 'held' | 'suppressed'; readonly reason: string };

/** What is written with an outcome, in the same commit. */
export interface Settlement {
  /** Of this attempt, for the timeline. */
  readonly steps: readonly TimelineStep[];
  /** For the next attempt; absent: what was noted before stays. */
  readonly notes?: EntryMeta;
  /** Accepted in the same commit. */
  readonly followUps?: readonly NewEntry[];
}

/** Which heads of ready lanes to claim; a source that comes first is emptied first. */
export interface ClaimRequest {
  readonly shopId: ShopId;
  readonly limit: number;
  readonly from: readonly ClaimSource[];
  /** After these, so many that are due again after they failed by themselves. */
  readonly retries?: number;
}

/**
 * `due`: those that wait for no more than their time. `untried`: of these, the ones that have
 * never failed. A number: those that wait for that; fewest failures first, then the oldest.
 */
export type ClaimSource = 'due' | 'untried' | number;
