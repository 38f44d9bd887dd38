import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import type { Entry, EntrySummary } from './entry.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { Reason } from '../domain/reasons.ts';

export interface EntrySearch {
  /**
   * Words or prefixes of words, all of which must occur in the entry's summary or ids (its own, the
   * remote id, the platform's message and conversation).
   */
  readonly text?: string;
  readonly shopId?: ShopId;
  readonly channel?: Channel;
  readonly states?: readonly EntryState[];
  /** The beginning of the reason's code or sentence. */
  readonly reason?: string;
  /** `receivedAt`, from (inclusive) and to (exclusive). */
  readonly from?: number;
  readonly to?: number;
  /** Only entries older than this one; the newest come first. */
  readonly before?: EntryId;
  readonly limit: number;
}

export interface FoundEntry {
  readonly entry: Entry;
  readonly summary: EntrySummary;
}

/** What an attempt submitted or would have submitted; kept as long as the raw form. */
export interface DeliveryRecord {
  /** The create-message request as it was last submitted, or would have been. */
  readonly request: unknown;
  /** Text that was removed as a quote or signature. */
  readonly trimmed?: string;
  readonly attachments: readonly {
    readonly part: string;
    readonly name: string;
    readonly type: string;
    readonly bytes: number;
    readonly mediaId?: string;
  }[];
}

export interface NewAuditLine {
  readonly who: string;
  readonly action: string;
  /** An entry's id, a shop's name or a count; never an address, a number or a text. */
  readonly target: string;
  readonly outcome: string;
}
export interface AuditLine extends NewAuditLine {
  readonly no: number;
  readonly at: number;
}

/** Queries and changes for operators only, from the console or a command. */
export interface OperatorStore {
  /** `next` is the `before` of the next page; absent at the end. */
  search(
    search: EntrySearch,
  ): Promise<{ readonly found: readonly FoundEntry[]; readonly next?: EntryId }>;
  /** The number of matches, counted up to `most`. */
  countFound(search: Omit<EntrySearch, 'before' | 'limit'>, most: number): Promise<number>;
  /** The number of entries that are not in the `text` index yet. */
  searchBacklog(): Promise<number>;
  summaries(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, EntrySummary>>;
  /** The entries that were accepted directly before and after this one. */
  neighbours(id: EntryId): Promise<{ readonly older?: EntryId; readonly newer?: EntryId }>;
  record(id: EntryId): Promise<DeliveryRecord | undefined>;
  /** Undoes a discard. False: the entry is not discarded, or its raw form was swept. */
  restore(id: EntryId): Promise<boolean>;
  /** Undoes a retry or release, unless an attempt has claimed the entry since. */
  takeBack(id: EntryId, to: EntryState, reason: Reason | undefined): Promise<boolean>;
  audit(line: NewAuditLine): Promise<void>;
  auditLines(page: {
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly AuditLine[]>;
}
