import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import type { Entry, EntrySummary } from './entry.ts';
import type { EntryState } from '../domain/entry-state.ts';

export interface EntrySearch {
  /**
   * Words, or beginnings of words, all of which are in the summary or the ids of the entry (its own,
   * the remote id, the platform's message and conversation).
   */
  readonly text?: string;
  readonly shopId?: ShopId;
  readonly channel?: Channel;
  readonly states?: readonly EntryState[];
  /** The reason begins with it. */
  readonly reason?: string;
  /** `receivedAt`, from (inclusive) and to (exclusive). */
  readonly from?: number;
  readonly to?: number;
  /** Newest first, entries older than this one. */
  readonly before?: EntryId;
  readonly limit: number;
}

export interface FoundEntry {
  readonly entry: Entry;
  readonly summary: EntrySummary;
}

/** What an attempt made of a message: kept as long as the raw form. */
export interface DeliveryRecord {
  /** The create-message request as it was last submitted, or would have been. */
  readonly request: unknown;
  /** What was taken away as quote or signature. */
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
  /** An entry's id, a shop's name, a count; never an address, a number or a text. */
  readonly target: string;
  readonly outcome: string;
}
export interface AuditLine extends NewAuditLine {
  readonly no: number;
  readonly at: number;
}

/** What only an operator asks, by the console or by a command. */
export interface OperatorStore {
  /** `next` is the `before` of the next page; absent at the end. */
  search(
    search: EntrySearch,
  ): Promise<{ readonly found: readonly FoundEntry[]; readonly next?: EntryId }>;
  /** How many there are, counted up to `most`. */
  countFound(search: Omit<EntrySearch, 'before' | 'limit'>, most: number): Promise<number>;
  /** How many entries the index of `text` does not have yet. */
  searchBacklog(): Promise<number>;
  summaries(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, EntrySummary>>;
  /** Which entries were accepted right before and right after it. */
  neighbours(id: EntryId): Promise<{ readonly older?: EntryId; readonly newer?: EntryId }>;
  record(id: EntryId): Promise<DeliveryRecord | undefined>;
  /** Takes back a discard: to the state before it. False: it is not discarded, or was swept. */
  restore(id: EntryId): Promise<boolean>;
  /** Takes back a retry or release that no attempt has claimed since. */
  takeBack(id: EntryId, to: EntryState, reason: string | undefined): Promise<boolean>;
  audit(line: NewAuditLine): Promise<void>;
  auditLines(page: {
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly AuditLine[]>;
}
