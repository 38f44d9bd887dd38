import type { Channel } from '../domain/channel.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import type { Entry, EntrySummary } from './entry.ts';

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

export interface IndexOptions {
  /** `owner`: a gateway, which updates the index. `beside`: a command. */
  readonly role: 'owner' | 'beside';
  /** The index cannot be updated, for this reason (a code or the error's name). */
  readonly onFailure?: ((reason: string) => void) | undefined;
}

export interface FoundEntry {
  readonly entry: Entry;
  readonly summary: EntrySummary;
}

/**
 * Finds entries for operators. It reads the store's database, and the store does not use it, so
 * neither intake nor delivery depends on it. Its methods reject with `SpoolUnavailable`.
 */
export interface EntryIndex {
  /**
   * The newest first. `next` is the `before` of the next page; absent at the end. A text that is not
   * found in the index is looked for in the newest entries, too.
   */
  find(
    search: EntrySearch,
  ): Promise<{ readonly found: readonly FoundEntry[]; readonly next?: EntryId }>;
  /** The number of matches, counted up to `most`. */
  count(search: Omit<EntrySearch, 'before' | 'limit'>, most: number): Promise<number>;
  /** The number of entries that are not found by a `text` yet. */
  backlog(): Promise<number>;
  summaries(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, EntrySummary>>;
  /** The entries that were accepted directly before and after this one. */
  neighbours(id: EntryId): Promise<{ readonly older?: EntryId; readonly newer?: EntryId }>;
  /** Before the store is closed. */
  close(): Promise<void>;
}
