import type { Channel } from '../domain/channel.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { BlobName, EntryId, ShopId } from '../domain/ids.ts';
import type { Sighting } from '../domain/person-names.ts';
import type { Reason } from '../domain/reasons.ts';

/**
 * A message as its channel stores it. Email: the received bytes, unchanged. A text: what its
 * provider sent, as JSON. A chat message: its text and uploads as JSON. Small raw
 * forms are stored in the row, larger ones in a file. The spool adds the checksum (`blobs.ts`).
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

/** What the channel knows about an arrival besides the raw form. JSON, opaque to the spool. */
export type EntryMeta = Readonly<Record<string, unknown>>;

/**
 * What lists show of an entry besides its columns; made by its channel on acceptance. Unknown texts
 * are empty.
 */
export interface EntrySummary {
  /** Name and address or number of the sender, as in the message. */
  readonly from: string;
  readonly to: string;
  /** The subject of an email. */
  readonly subject: string;
}

/** A summary as it is stored with its entry on acceptance. */
export interface StoredSummary extends EntrySummary {
  /** Further search terms for the entry: other addresses of the envelope and of copies. */
  readonly more: string;
}

export interface NewEntry {
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly shopId: ShopId;
  readonly channel: Channel;
  /** Order key: entries of one (shop, channel, lane) reach the platform one after the other. */
  readonly lane: string;
  /** What it says of its sender: the store then chooses the person's lane instead. */
  readonly sender?: Sighting;
  /** Unique per (shop, channel) for as long as entries are kept. */
  readonly dedupKey: string;
  /** The `message.remote_id` of the request. */
  readonly remoteId: string;
  /** Email: used instead of `remoteId` when another email of this shop already has that id. */
  readonly remoteIdIfTaken?: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly meta: EntryMeta;
  readonly raw: RawForm;
  /** Made by its channel; if absent, the gateway computes it later. */
  readonly summary?: StoredSummary;
  /** Accept straight into `held`, with this reason. */
  readonly hold?: Reason;
  /** Claimed independently of its lane and never holds it back; submitted to its conversation. */
  readonly detached?: boolean;
}

/**
 * What a queued entry waits for: its own time; its shop, until a message of it is delivered; the
 * shop's `/media/`, until an upload succeeds. Any other number identifies a refusal that many
 * entries got.
 */
export const WAITS_FOR = { time: 0, shop: 1, media: 2 } as const;
export const FIRST_REFUSAL_NUMBER = 3;
const WAITS = ['time', 'shop', 'media'] as const;
export type Wait = (typeof WAITS)[number] | 'refusal';

/** What it waits for as a word, for people and programs. */
export const waitOf = ({ waitsFor }: Pick<Entry, 'waitsFor'>): Wait => WAITS[waitsFor] ?? 'refusal';

export interface Accepted {
  /** The entry for this message: the new one, or the first one in case of a duplicate. */
  readonly id: EntryId;
  readonly duplicate: boolean;
}

/** Proof of a claim. Settling with a generation that is no longer the entry's changes nothing. */
export interface Lease {
  readonly id: EntryId;
  readonly generation: number;
}

/** An entry as the store returns it; the raw form is read separately (`Spool.raw`). */
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
  /** Attempts that counted: those that failed while the shop delivered others. */
  readonly attempts: number;
  /**
   * Failed attempts, whether they counted or not. An attempt that only has to wait is not one: a 429
   * for the shop, paused uploads, late media, a conversation not known yet, a stop.
   */
  readonly failures: number;
  /** One of `WAITS_FOR`, or the number of a refusal. */
  readonly waitsFor: number;
  /** Milliseconds of failing that count toward `giveUpAfter`; outages of the shop do not. */
  readonly failingMs: number;
  /** When the last attempt ended; 0 before the first. */
  readonly lastAttemptAt: number;
  /** When a queued entry may be claimed. */
  readonly nextAttemptAt: number;
  /** Its lane does not wait for it: a poison message, for example. */
  readonly detached: boolean;
  /** Why it is dead, held or suppressed, or the error of the last attempt. */
  readonly reason?: Reason;
  readonly settledAt?: number;
  readonly platformMessageId?: string;
  readonly conversationId?: string;
  /** Size of the raw form in bytes, also after it was swept. */
  readonly rawSize: number;
}

/** A file that was uploaded to the platform. */
export interface SavedMedia {
  readonly id: string;
  /** The public URL, if there is one. */
  readonly url?: string;
}

/** The platform conversation of a lane. */
export interface RememberedConversation {
  readonly id: string;
  /** When the lane last delivered a message to it. */
  readonly usedAt: number;
}

/** What an operator's move marks in the notes of an entry. */
export interface MovedNotes {
  /** It was retried or released: the attempts begin anew. */
  readonly restarted?: boolean;
  /** A claim before the move ended without an outcome. */
  readonly unended?: boolean;
}

export interface Claimed {
  readonly entry: Entry;
  readonly lease: Lease;
  readonly raw: RawForm;
  /** An earlier claim ended without an outcome, so a request of it may have been made. */
  readonly isUnended: boolean;
  /** Uploads of earlier attempts, by attachment part. */
  readonly media: ReadonlyMap<string, SavedMedia>;
  /** An operator released it, so it is no longer classified. */
  readonly released: boolean;
  /** Notes of earlier attempts, opaque to the spool but for its own marks. */
  readonly notes: EntryMeta & MovedNotes;
  /** That of its lane. Emails have none. */
  readonly conversation?: RememberedConversation;
}

/** One step of an entry's timeline. `detail` never holds bodies, subjects, addresses or secrets. */
export interface TimelineStep {
  /** When it ended. */
  readonly at: number;
  readonly step: string;
  /** Of the first step of an attempt: when the attempt began. */
  readonly startedAt?: number;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/** The result of an attempt. */
export type Outcome =
  | {
      readonly state: 'delivered';
      readonly platformMessageId?: string;
      /** Without a caveat: if it is its lane's conversation, that was used now. */
      readonly conversationId?: string;
      /** What operators should know although it was delivered. */
      readonly caveat?: Reason;
    }
  | {
      readonly state: 'queued';
      /** Not claimed for these milliseconds of the store's clock, whatever it waits for. */
      readonly retryInMs: number;
      /** One of `WAITS_FOR`, or the number of a refusal. */
      readonly waitsFor: number;
      /** Undefined: the previous reason is kept. */
      readonly reason: Reason | undefined;
      /** The attempt failed, whatever the cause. */
      readonly failed: boolean;
      /** It failed while its shop delivered others, so the attempt counts. */
      readonly counts: boolean;
      /** Added to the entry's `failingMs`. */
      readonly failingMs: number;
      /** Detaches the entry: its lane no longer waits for it. */
      readonly detach: boolean;
    }
  | { readonly state: 'dead' | 'held' | 'suppressed'; readonly reason: Reason };

/** What is written with an outcome, in the same commit. */
export interface Settlement {
  /** The attempt's steps for the timeline. */
  readonly steps: readonly TimelineStep[];
  /** Notes for the next attempt; if absent, the previous ones are kept. */
  readonly notes?: EntryMeta;
  /** Accepted in the same commit. */
  readonly followUps?: readonly NewEntry[];
}

/** Which heads of ready lanes to claim; earlier sources are used up before later ones. */
export interface ClaimRequest {
  readonly shopId: ShopId;
  readonly limit: number;
  readonly from: readonly ClaimSource[];
  /** After these, the maximum number of due entries that failed before. */
  readonly retries?: number;
}

/**
 * `due`: heads that wait only for their time. `untried`: those of them that never failed. A number:
 * heads that wait for it; fewest failures first, then the oldest.
 */
export type ClaimSource = 'due' | 'untried' | number;
