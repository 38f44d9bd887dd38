import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import type { BlobReader, BlobStore } from './blobs.ts';
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
  RememberedConversation,
  SavedMedia,
  Settlement,
  TimelineStep,
} from './entry.ts';
import type { LanePerson } from '../domain/person-names.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { DeliveryRecord } from './operator-store.ts';
import type { SharedRefusals } from './refusals.ts';
import type { CountedMessage, RateLimit, RateLimits } from './sender-rates.ts';

/** One lane of one shop. Order is kept per lane, and each lane has one conversation. */
export interface LaneKey {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly lane: string;
}

/** A lane, and an entry of it. */
export type EntryLane = LaneKey & { readonly id?: EntryId };

/** A message as the platform identifies it. */
export interface KnownMessage {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly dedupKey: string | undefined;
  readonly conversationId: string;
}

export interface EntryFilter {
  readonly shopId?: ShopId;
  readonly channel?: Channel;
  readonly states?: readonly EntryState[];
  readonly limit: number;
}

export interface EntryCount {
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly state: EntryState;
  readonly count: number;
  /**
   * `receivedAt` of the oldest of them. Detached queued entries that wait for their own time and
   * never failed do not count; if there are no others, the first such time.
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
  /** Files without a row: writes that ended before their commit. */
  readonly orphans: number;
  /** Rows whose file is missing, which raises an alarm: someone deleted it from the data folder. */
  readonly missing: readonly EntryId[];
}

export interface RepairRequest {
  readonly shops: readonly ShopId[];
  /** Lanes are checked in portions: where the previous one ended. */
  readonly lanesAfter: number;
}

export interface Repaired {
  /** Where the next portion starts; undefined after the last one. */
  readonly lanesUpTo: number | undefined;
  /** Lanes whose head could not be claimed, which have been repaired. */
  readonly lanes: number;
  /** Shops with a due entry. */
  readonly due: readonly ShopId[];
  /** Entries that waited for a refusal that is over, and were released. */
  readonly released: number;
}

/** Where the channels store what they accept. */
export interface EntryIntake {
  readonly blobs: BlobStore;

  /** Stores all of the entries durably, or none. Results are in the order given. */
  accept(entries: readonly NewEntry[]): Promise<readonly Accepted[]>;
  /** Which of these dedup keys already have an entry. This only avoids work; `accept` decides. */
  knownKeys(
    shopId: ShopId,
    channel: Channel,
    dedupKeys: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /** Bytes of waiting raw forms, by shop: `queued`, `delivering` and `held`. */
  backlogBytes(): Promise<ReadonlyMap<ShopId, number>>;
  /**
   * Call it before an acknowledgement when something else was awaited since the store answered.
   * @throws {SpoolUnavailable} the store has failed meanwhile, so nothing may be acknowledged
   */
  assertSound(): void;
}

/** The queue as delivery sees it. */
export interface DeliveryQueue {
  /**
   * Claims heads of ready lanes, `atMost` in total. Every request gets an equal share; the rest
   * goes to the requests that come first. Results are in the order of the requests.
   * @param expiredBefore leases that end before this time count as expired (default: now). A caller
   * passes the time of its last renewal, so that after a suspension it does not reclaim its own
   * entries
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
   * Writes an attempt's outcome and its record. False: the entry was claimed anew and nothing changed.
   * A lease that has ended counts until then. Settling once more to the same state resolves with true
   * and changes nothing.
   */
  settle(
    lease: Lease,
    outcome: Outcome,
    settlement: Settlement,
    record?: DeliveryRecord,
  ): Promise<boolean>;
  /** Saves an uploaded file's id as soon as it is known. False: the lease was lost. */
  saveMedia(lease: Lease, part: string, media: SavedMedia): Promise<boolean>;
}

/** Entries that wait for their shop or for their next attempt. */
export interface WaitingQueue {
  /**
   * Makes this shop's entries that wait for their next attempt due within `spreadMs`. Resolves with
   * their number.
   * @param failedSince only non-detached entries that failed since this time
   */
  hasten(shopId: ShopId, spreadMs: number, failedSince?: number): Promise<number>;
  /** Makes this shop's entries that wait for `waitsFor` wait for the shop instead. */
  waitForShopInstead(shopId: ShopId, waitsFor: number): Promise<number>;
  /** Repairs states that must not occur; for the watchdog. */
  repair(request: RepairRequest): Promise<Repaired>;
}

/**
 * Which conversations and messages on the platform belong to lanes. Lanes of one person that were
 * joined have one conversation.
 */
export interface Conversations {
  conversation(lane: LaneKey): Promise<RememberedConversation | undefined>;
  /**
   * False, and nothing is stored, when another lane has this conversation or the given entry was
   * erased meanwhile.
   */
  rememberConversation(lane: EntryLane, conversationId: string): Promise<boolean>;
  forgetConversation(lane: LaneKey): Promise<void>;
  /**
   * The lane of a message by its dedup key. If the key is unknown or its entry was swept, the lane
   * that is assigned to the conversation.
   */
  laneOf(known: KnownMessage): Promise<string | undefined>;
  /**
   * The person of a lane of WhatsApp; undefined if no names of theirs are stored.
   * @param lane that of an entry, whose `id` says which messages are earlier ones
   */
  personOf(lane: EntryLane): Promise<LanePerson | undefined>;
  /** Which of these chat messages this gateway created on the platform; they are not replies. */
  ownPlatformMessages(shopId: ShopId, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What a normalizer needs to know about earlier messages. */
export interface EarlierMessages {
  /** Which of these emails' `remote_id`s passed through the gateway; trimming depends on it. */
  knownEmailIds(shopId: ShopId, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Counts a message of a sender and returns the limit that it exceeds. Counting the same message
   * again changes nothing and returns the same result. Call it in order of arrival.
   */
  countMessage(message: CountedMessage, limits: RateLimits): Promise<RateLimit | undefined>;
}

/** Reads and moves single entries. */
export interface Entries {
  get(id: EntryId): Promise<Entry | undefined>;
  /** The raw form; undefined when it was swept. */
  raw(id: EntryId): Promise<RawForm | undefined>;
  /** The newest first. */
  list(filter: EntryFilter): Promise<readonly Entry[]>;
  timeline(id: EntryId): Promise<readonly TimelineStep[]>;
  /** Counts for every state except `delivered`, which holds most entries and needs no action. */
  counts(): Promise<readonly EntryCount[]>;
  /**
   * Back to `queued`, due now: an operator's `retry` or `release`, or the gateway's after a refusal
   * that many entries got is over. False: the state forbids it.
   * @param by the operator, for the timeline
   */
  requeue(id: EntryId, by?: string): Promise<boolean>;
  discard(id: EntryId, by?: string): Promise<boolean>;
}

/**
 * What the gateway and the commands beside it exchange about shops, and operators' requests for a
 * probe, from a command or the console.
 */
export interface ShopHealthRecords {
  /** Stores a shop's health for commands beside the gateway. */
  saveShopHealth(shopId: ShopId, health: EntryMeta): Promise<void>;
  shopHealth(shopId: ShopId): Promise<EntryMeta | undefined>;
  /** Asks the gateway to try this shop at once. */
  requestProbe(shopId: ShopId): Promise<void>;
  /** Takes the requests for these shops since the last call. */
  takeProbeRequests(shops: readonly ShopId[]): Promise<readonly ShopId[]>;
}

/** Named numbers that outlive the process: often a time in milliseconds since the epoch. */
export interface Marks {
  /** Undefined until it is set. */
  mark(name: string): Promise<number | undefined>;
  setMark(name: string, value: number): Promise<void>;
  /**
   * Adds one to a mark from 0 on, unless that would make it more than `most`; one that is not set counts as 0, and a
   * negative one stays. Returns whether it was raised. Gateways that share the store can raise it at once.
   */
  raiseMark(name: string, most: number): Promise<boolean>;
}

/** Maintenance of the store as a whole. */
export interface StoreLife {
  /** Once, before the first claim. */
  recover(): Promise<Recovered>;
  sweep(retention: Retention): Promise<Swept>;
  /** Makes a durable write; rejects if it fails. For health checks. */
  probe(): Promise<void>;
  /** Called when the store has failed for good (an fsync error): the process must end. */
  onFatal(listener: (error: Error) => void): void;
  close(): Promise<void>;
}

/**
 * The durable store of everything accepted. The states and the moves between them are in
 * `domain/entry-state.ts`.
 *
 * What a backend guarantees, and the conformance suite checks:
 * - `accept` resolves only after what it stored has been fsynced. Many callers share one fsync.
 * - (shop, channel, dedup key) is unique; a duplicate resolves with the first entry's id, also when
 *   both come in one batch.
 * - Lanes are FIFO by acceptance: of each lane only the first entry that is `queued` or
 *   `delivering` and not detached can be claimed; `held`, `suppressed`, `dead`, `discarded` and
 *   detached entries do not hold their lane back.
 * - A claim raises the entry's generation; a settle with an old one returns false and changes
 *   nothing. One with the current generation counts once, and is true as often as it is repeated.
 * - Methods reject with the errors of `errors.ts` and no others.
 */
export interface Spool extends EntryIntake, DeliverySpool, StoreLife {
  readonly blobs: BlobStore;
}

/** The part of it that delivery uses, which may be in a thread of its own. */
export interface DeliverySpool
  extends
    DeliveryQueue,
    WaitingQueue,
    Conversations,
    EarlierMessages,
    Entries,
    ShopHealthRecords,
    SharedRefusals,
    Marks {
  readonly blobs: BlobReader;
}

/** The parameters of a method. */
export type SpoolParams<Method extends Exclude<keyof Spool, 'blobs'>> = Parameters<Spool[Method]>;
