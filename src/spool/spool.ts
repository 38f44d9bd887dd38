import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import type { BlobStore } from './blobs.ts';
import type {
  Accepted,
  Claimed,
  ClaimRequest,
  Entry,
  EntryMeta,
  Lease,
  NewEntry,
  Outcome,
  RawForm,
  SavedMedia,
  Settlement,
  TimelineStep,
} from './entry.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { DeliveryRecord } from './operator-store.ts';
import type { CountedMessage, RateLimit, RateLimits } from './sender-rates.ts';

/** One lane of one shop: where order is kept and where a conversation is remembered. */
export interface LaneKey {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly lane: string;
}

/** What the platform knows of a message. */
export interface KnownMessage {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly dedupKey: string | undefined;
  readonly conversationId: string;
}

export interface RememberedConversation {
  readonly id: string;
  /** When the lane last delivered into it. */
  readonly usedAt: number;
}

export interface EntryFilter {
  readonly shopId?: ShopId;
  readonly channel?: Channel;
  readonly states?: readonly EntryState[];
  /** Newest first, entries older than this one. */
  readonly before?: EntryId;
  readonly limit: number;
}

export interface EntryCount {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly state: EntryState;
  readonly count: number;
  /**
   * `receivedAt` of the oldest of them. Queued ones that are detached and wait for a time of their
   * own without having failed do not count; where there are no others, the first such time.
   */
  readonly oldestAt: number;
}

export interface Retention {
  /** Milliseconds to keep raw bytes of delivered and discarded entries. */
  readonly rawMs: number;
  readonly deadMs: number;
  readonly entriesMs: number;
}

export interface Swept {
  readonly entries: number;
  readonly raws: number;
  readonly files: number;
}

export interface Recovered {
  /** Entries that were in flight when the last process ended; they are queued again. */
  readonly requeued: number;
  /** Files that no row names: writes that ended before their commit. */
  readonly orphans: number;
  /** Rows whose file is gone. An alarm: somebody deleted from the data folder. */
  readonly missing: readonly EntryId[];
}

export interface RepairRequest {
  readonly shops: readonly {
    readonly shopId: ShopId;
    /** Refusals that its entries may wait for; what waits for another is released. */
    readonly refusals: readonly number[];
  }[];
  /** Lanes are looked at in portions; where the last one ended. */
  readonly lanesAfter: number;
}

export interface Repaired {
  /** Where the next portion begins; undefined after the last one. */
  readonly lanesUpTo: number | undefined;
  /** Lanes whose head could not be claimed; they can now. */
  readonly lanes: number;
  /** Shops with an entry whose time has come. */
  readonly due: readonly ShopId[];
  /** Entries that waited for a refusal that is over. */
  readonly released: number;
}

/** Where the doors hand in what they accept. */
export interface EntryIntake {
  readonly blobs: BlobStore;

  /** Stores all of them or none, durably. Results are in the order given. */
  accept(entries: readonly NewEntry[]): Promise<readonly Accepted[]>;
  /** Which of these dedup keys have an entry already. `accept` decides; this only spares work. */
  knownKeys(
    shopId: ShopId,
    channel: Channel,
    dedupKeys: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /** Bytes of the raw forms that wait, by shop: `queued`, `delivering` and `held`. */
  backlogBytes(): Promise<ReadonlyMap<ShopId, number>>;
  /**
   * Before an acknowledgement, when something else was awaited since the store's answer.
   * @throws {SpoolUnavailable} the store has failed meanwhile: nothing is acknowledged any more
   */
  assertSound(): void;
}

/** The queue as delivery sees it. */
export interface DeliveryQueue {
  /**
   * Claims heads of ready lanes, `atMost` in all, of which every request gets its share; what is
   * left over goes to those that come first. Results are in the order of the requests.
   * @param expiredBefore leases that ended before this time are over, instead of those that ended
   * before now: a caller that was paused after it renewed its own does not lose them to itself
   */
  claim(
    requests: readonly ClaimRequest[],
    leaseMs: number,
    atMost: number,
    expiredBefore?: number,
  ): Promise<readonly (readonly Claimed[])[]>;
  /** Extends leases that are still held. Resolves with those that were lost. */
  renew(leases: readonly Lease[], leaseMs: number): Promise<readonly Lease[]>;
  /**
   * Writes an attempt's outcome, and what it made of the message. False: the lease was lost and
   * nothing changed.
   */
  settle(
    lease: Lease,
    outcome: Outcome,
    settlement: Settlement,
    record?: DeliveryRecord,
  ): Promise<boolean>;
  /** Saves what was uploaded the moment its id is known. False: the lease was lost. */
  saveMedia(lease: Lease, part: string, media: SavedMedia): Promise<boolean>;
}

/** Entries that wait for their shop or for a time of their own. */
export interface WaitingQueue {
  /**
   * What of this shop waits for the time of its next attempt is due within `spreadMs`. Resolves
   * with how many.
   * @param failedSince only entries in their lanes that failed since this time
   */
  hasten(shopId: ShopId, spreadMs: number, failedSince?: number): Promise<number>;
  /** What of this shop waits for `waitsFor` waits for the shop from now on. */
  releaseWaiting(shopId: ShopId, waitsFor: number): Promise<number>;
  /** Puts right what should never be wrong; for the watchdog. */
  repair(request: RepairRequest): Promise<Repaired>;
}

/** What lanes and messages are on the platform. */
export interface Conversations {
  conversation(lane: LaneKey): Promise<RememberedConversation | undefined>;
  /**
   * False: another lane already has this conversation, or the entry that tells was erased
   * meanwhile; nothing was stored.
   */
  rememberConversation(
    lane: LaneKey & { readonly id?: EntryId },
    conversationId: string,
  ): Promise<boolean>;
  forgetConversation(lane: LaneKey): Promise<void>;
  /**
   * The lane of a message by its dedup key; when that is not known, or its entry was swept, the one
   * that writes into the conversation.
   */
  laneOf(known: KnownMessage): Promise<string | undefined>;
  /** Which of these chat messages this gateway created on the platform: they are no replies. */
  ownPlatformMessages(shopId: ShopId, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What a normalizer asks of the messages before this one. */
export interface EarlierMessages {
  /** Which of these emails' `remote_id`s have passed here: what is trimmed depends on it. */
  knownEmailIds(shopId: ShopId, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Counts a message among those that its person sent of late, and tells the limit that it is over.
   * Counted again it answers the same and changes nothing. Call it in the order of arrival.
   */
  countMessage(message: CountedMessage, limits: RateLimits): Promise<RateLimit | undefined>;
}

/** Entries to look at and to move. */
export interface Entries {
  get(id: EntryId): Promise<Entry | undefined>;
  /** The raw form, undefined when it was swept. */
  raw(id: EntryId): Promise<RawForm | undefined>;
  list(filter: EntryFilter): Promise<readonly Entry[]>;
  timeline(id: EntryId): Promise<readonly TimelineStep[]>;
  /** Of every state but `delivered`: those are most entries, and need nobody. */
  counts(): Promise<readonly EntryCount[]>;
  /** An operator's `retry` or `release`: back to `queued`, due now. False: not in such a state. */
  requeue(id: EntryId): Promise<boolean>;
  discard(id: EntryId): Promise<boolean>;
}

/** What the gateway and the commands beside it tell each other of shops. */
export interface ShopHealthRecords {
  /** The health of shops as the gateway last knew it, for commands beside it. */
  saveShopHealth(shopId: ShopId, health: EntryMeta): Promise<void>;
  shopHealth(shopId: ShopId): Promise<EntryMeta | undefined>;
  /** Asks the gateway to try this shop at once. */
  requestProbe(shopId: ShopId): Promise<void>;
  /** Takes what was asked since the last call. */
  takeProbeRequests(): Promise<readonly ShopId[]>;
}

/** Times that outlive the process. */
export interface Marks {
  /** A time that outlives the process, in milliseconds since the epoch; undefined before the first. */
  mark(name: string): Promise<number | undefined>;
  setMark(name: string, at: number): Promise<void>;
}

/** What keeps the store sound, for the gateway as a whole. */
export interface StoreLife {
  /** Once, before the first claim. */
  recover(): Promise<Recovered>;
  sweep(retention: Retention): Promise<Swept>;
  /** Rejects unless a durable write works; for health checks. */
  probe(): Promise<void>;
  /** Calls back when the store has failed for good (an fsync error): the process must end. */
  onFatal(listener: (error: Error) => void): void;
  close(): Promise<void>;
}

/**
 * The durable store of everything accepted; the states and who may move them are in `domain/entry-state.ts`.
 *
 * What a backend promises, and the conformance suite checks:
 * - `accept` resolves only after what it stored has been fsynced. Many callers share one fsync.
 * - (shop, channel, dedup key) is unique; a duplicate resolves with the first entry's id, also
 *   when both come in one batch.
 * - Lanes are FIFO by acceptance: of each lane only the first entry that is `queued` or
 *   `delivering` and not detached can be claimed; `held`, `suppressed`, `dead`, `discarded` and
 *   detached entries do not hold their lane back.
 * - A claim raises the entry's generation; a settle with an old one returns false and changes
 *   nothing.
 * - Methods reject with the errors of `errors.ts` and no others.
 */
export interface Spool
  extends
    EntryIntake,
    DeliveryQueue,
    WaitingQueue,
    Conversations,
    EarlierMessages,
    Entries,
    ShopHealthRecords,
    Marks,
    StoreLife {}
