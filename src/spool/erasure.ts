import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId, VisitorId } from '../domain/ids.ts';
import type { UploadRecord } from './chat-store.ts';
import type { EntryKind, EntryMeta } from './entry.ts';
import type { LaneKey } from './spool.ts';
import type { EntryState } from '../domain/entry-state.ts';
import type { PersonName } from '../domain/person-names.ts';

/** What says whose an entry is. */
export interface ErasableEntry {
  readonly shopId?: ShopId;
  readonly kind: EntryKind;
  readonly channel: Channel;
  readonly lane: string;
  readonly meta: EntryMeta;
  /** The raw form of an event, which alone says whom it is about; null when it was swept. */
  readonly event?: Uint8Array | null;
}

/** A name of a person on WhatsApp, at an account of a shop. */
export interface StoredName extends PersonName {
  readonly shop: ShopId;
  readonly scope: string;
}

/** The person to erase, as predicates that the store evaluates. */
export interface Person {
  /** Whether this address, number, subject or visitor id is theirs, in any spelling. */
  readonly is: (identity: string) => boolean;
  /** Whether they wrote this entry or it is an event about them. */
  readonly wrote: (entry: ErasableEntry) => boolean;
  /** Whether the text messages of this lane are theirs. */
  readonly hasSmsLane: (lane: string, shop?: ShopId) => boolean;
  /** Whether a text names them, that is, contains their address, number or id in any spelling. */
  readonly isNamedIn: (text: string) => boolean;
  /** The names under which their mail is counted (`CountedMessage.person`). */
  readonly countedAs: readonly string[];
}

export interface TracedEntry {
  readonly seq: number;
  readonly id: EntryId;
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly state: EntryState;
}

export type TracedUpload = Pick<UploadRecord, 'id' | 'name' | 'type' | 'size' | 'blob'>;

export interface TracedVisitor {
  readonly no: number;
  readonly id: VisitorId;
  readonly shopId: ShopId;
  /** Number of lines of chat history. */
  readonly lines: number;
  /** The files that they uploaded, used by a message or not. */
  readonly uploads: readonly TracedUpload[];
}

/** What is stored about a person. */
export interface Traces {
  readonly entries: readonly TracedEntry[];
  readonly visitors: readonly TracedVisitor[];
  /** Remembered conversations. */
  readonly conversations: readonly LaneKey[];
  readonly optOuts: readonly LaneKey[];
  /** Texts of the store about other people's entries that name the person; they are redacted. */
  readonly notes: readonly Note[];
}

/** A reason, or a part of a timeline, of an entry that is not erased. */
export interface Note {
  readonly seq: number;
  /** The part of the timeline; undefined: the reason. */
  readonly no: number | undefined;
}

/** Another person's message that names the person. It is kept, and the operator is told. */
export interface Mention {
  readonly id: EntryId;
  readonly shopId: ShopId;
  readonly channel: Channel;
  readonly where: readonly ('header' | 'body')[];
}

/** A line of another person's chat history. */
export interface LineMention {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  readonly seq: number;
}

export interface FindOptions {
  readonly person: Person;
  /** Searches this shop only. */
  readonly shopId?: ShopId | undefined;
  /** Also search other people's messages: what lists and the search show of them, and the lines of chats. */
  readonly others: boolean;
  /** Called after each portion with the number of entries read. */
  readonly onProgress?: ((entries: number) => void) | undefined;
}

export interface Found {
  readonly traces: Traces;
  readonly mentions: readonly Mention[];
  readonly lines: readonly LineMention[];
}

export interface EraseRowsOptions {
  readonly person: Person;
  readonly shops: readonly ShopId[];
  /** How long to wait for deliveries in flight. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * What has to be deleted after the rows: blobs, and on the embedded platform media, messages, and
 * visitors that it knows only by their messages.
 */
export type RestKind = 'blob' | 'media' | 'message' | 'visitor';

/** Their names or ids, in order. */
export type Rest = Readonly<Record<RestKind, readonly string[]>>;

/**
 * What became of deleted bytes in a file or a database. `clean`: nothing was erased from it since it was
 * rewritten. `postponed`: it has to be rewritten, which takes too long beside a running gateway; the next start
 * does it. `vacuumed`: the server was asked to free the space
 * of deleted rows, which it overwrites when it uses the space again; `not_vacuumed`: it refused.
 */
export type Purged = 'clean' | 'rewritten' | 'postponed' | 'vacuumed' | 'not_vacuumed';

/**
 * Erases people from a store, with or without running gateways, in short transactions. Every step
 * can be repeated, after a kill or for data that has arrived since.
 */
export interface Eraser {
  /** The number of entries, all of which `find` reads. */
  count(): Promise<number>;
  /** A hash of the person that is always the same, and useless without the key. */
  hashOf(identity: string): Promise<string>;
  /** All names that are stored, in portions by their keys. */
  names(): AsyncIterable<StoredName>;
  /** Deletes names: at the end, because they say which data is the person's. */
  eraseNames(names: readonly StoredName[]): Promise<void>;
  /** Searches the whole store for a person. Changes nothing. */
  find(options: FindOptions): Promise<Found>;
  /**
   * Deletes the rows of what was found. Waits for deliveries in flight; when `waitMs` is over their
   * entries are erased anyway, and the outcome of the attempt changes nothing. Keyed hashes of
   * dedup keys, of emails' remote ids and of opt-outs remain.
   * @returns the entries that were still being delivered when they were erased
   * @throws the signal's reason, between two transactions
   */
  eraseRows(traces: Traces, options: EraseRowsOptions): Promise<readonly TracedEntry[]>;
  /** Deletes the blobs whose rows were deleted. Resolves with their number. */
  eraseBlobs(): Promise<number>;
  /** What has still to be deleted outside the rows, from this run or one that was killed. */
  rest(): Promise<Rest>;
  /** Removes the records of what has been deleted. */
  forgetRest(kind: RestKind, names: readonly string[]): Promise<void>;
  /** Deletes files of this data folder and blobs that nothing names and nobody is writing. */
  sweepTemporary(): Promise<void>;
  /** Removes deleted bytes as far as the store can, and answers for each of its databases. */
  purge(signal?: AbortSignal): Promise<Readonly<Record<string, Purged>>>;
  close(): void;
}
