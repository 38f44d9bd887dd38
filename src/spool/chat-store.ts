import type { BlobName, ShopId, VisitorId } from '../domain/ids.ts';
import type { Accepted, NewEntry } from './entry.ts';

/** The formats of a chat text, as the platform names them (API §2.2). */
export type ChatFormat = 'TEXT' | 'MARKDOWN' | 'HTML';

export interface ChatAttachment {
  /** The upload's id. */
  readonly id?: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** Who wrote a reply, by the platform's ids (API §2.2). */
export interface ReplyAuthor {
  /** An AI agent. */
  readonly agentId?: string;
  /** A teammate. */
  readonly userId?: string;
}

/** What became of a visitor's message. `seen`: a person at the platform has it before them. */
export type MarkedState = 'failed' | 'delivered' | 'seen';

export interface ReplyChoice {
  readonly id: string;
  readonly text: string;
}

/** One line of a visitor's journal: both directions, numbered across conversations. */
export interface JournalLine {
  /** From 1, without gaps, per visitor. */
  readonly seq: number;
  /** The client's message id, or the platform's for a reply. */
  readonly id: string;
  readonly from: 'visitor' | 'agent';
  readonly text: string;
  readonly format: ChatFormat;
  readonly attachments: readonly ChatAttachment[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The state of a visitor's message; a reply is always `delivered`. */
  readonly state: 'accepted' | MarkedState;
  /** Of a reply whose author the platform names. */
  readonly author?: ReplyAuthor;
  /** Of a reply that is a question: answers that the visitor can send with one press. */
  readonly choices?: readonly ReplyChoice[];
  /**
   * Of a reply whose text has changed: the number of the change, by which the changes to the lines
   * of one visitor are ordered.
   */
  readonly rev?: number;
}

/** A reply as the platform has it now. */
export interface PlatformReply extends Pick<
  JournalLine,
  'text' | 'format' | 'at' | 'author' | 'choices'
> {
  readonly shopId: ShopId;
  readonly visitorId: VisitorId;
  readonly platformMessageId: string;
  /** When the platform last changed it, in milliseconds; absent when it does not say so. */
  readonly updatedAt?: number;
}

export interface StoredReply {
  /** The visitor that has the line, to whom the requested one may have been merged. */
  readonly visitorId: VisitorId;
  readonly line: JournalLine;
  /** False: the visitor had the line, and its text has changed (`line.rev`). */
  readonly isNew: boolean;
  /** When the visitor wrote the first message that had no reply before; absent without one. */
  readonly askedAt?: number;
}

export interface VisitorRecord {
  readonly id: VisitorId;
  readonly shopId: ShopId;
  readonly name?: string;
  readonly email?: string;
  /** `sub` of a verified identity, when there is one. */
  readonly subject?: string;
  /** Number of the visitor's current conversation; it only grows. */
  readonly conversation: number;
  /** The lane of messages in the current conversation. */
  readonly lane: string;
  /** The visitor that this one was merged into; nothing is stored under this one any more. */
  readonly joined?: VisitorId;
  readonly lastSeq: number;
  readonly seenSeq: number;
  /** The number of the last change to a line (`JournalLine.rev`); 0 without one. */
  readonly lastRev: number;
  /** How often the visitor has logged out. A token with a lower number is invalid. */
  readonly logouts: number;
  readonly createdAt: number;
}

export interface UploadRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly blob: BlobName;
  /** The checksum of its bytes (`blobs.ts`). */
  readonly checksum?: number;
}

/** The entry of a visitor's message; the store chooses its lane when it accepts it. */
export type NewChatEntry = Omit<NewEntry, 'lane'>;

export interface VisitorMessage {
  readonly visitorId: VisitorId;
  readonly messageId: string;
  readonly text: string;
  readonly uploadIds: readonly string[];
}

/** A visitor identity that a shop's server has verified, and the client that presents it. */
export interface VisitorIdentity {
  readonly shopId: ShopId;
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  /** The anonymous visitor that this client was before. */
  readonly guestId?: VisitorId;
  /** The id for a new visitor, when there is no guest to convert. */
  readonly newId: VisitorId;
  readonly at: number;
}

export interface Identified {
  readonly visitor: VisitorRecord;
  /** The anonymous guest that is now this visitor; its old tokens are invalid. */
  readonly superseded?: VisitorId;
  /** Lines that were moved from the guest. */
  readonly joinedLines: number;
}

export interface WatchedConversation {
  readonly visitorId: VisitorId;
  readonly conversationId: string;
  /** When the visitor last wrote in it. */
  readonly usedAt: number;
}

/** `from` is the number that the lines come after or before. */
export type AskedLines = readonly [
  shopId: ShopId,
  visitorId: VisitorId,
  from: number,
  limit: number,
  maxBytes?: number,
];

/**
 * What the chat channel stores besides the spool's entries. It is in the same database, so that a
 * visitor's message, its journal line and the use of its uploads are one durable write.
 */
export interface ChatStore {
  visitor(shopId: ShopId, id: VisitorId): Promise<VisitorRecord | undefined>;
  /** Those of these visitors that are stored, in any order. */
  visitorsAmong(shopId: ShopId, ids: readonly VisitorId[]): Promise<readonly VisitorRecord[]>;
  createVisitor(visitor: {
    shopId: ShopId;
    id: VisitorId;
    name?: string;
    email?: string;
    subject?: string;
    createdAt: number;
  }): Promise<VisitorRecord>;
  /** The email of a visitor with a subject is not changed: it was verified. */
  updateVisitor(
    shopId: ShopId,
    id: VisitorId,
    change: { name?: string; email?: string; seenSeq?: number },
  ): Promise<void>;
  /**
   * Returns the visitor of a verified identity, created if needed. An anonymous guest becomes this
   * visitor or, if the visitor exists, is merged into it: the guest's lines are appended to the
   * visitor's in their order, and uploads and conversations move too. Later replies, delivery marks
   * and uploads for the guest go to the visitor. All of this is one durable write and happens once:
   * a guest who has an identity or was merged before is not changed.
   */
  identifyVisitor(identity: VisitorIdentity): Promise<Identified>;
  /** Ends all tokens of this visitor: one more of `VisitorRecord.logouts`. Nobody stored: nothing. */
  logOut(shopId: ShopId, id: VisitorId): Promise<void>;
  /**
   * The next message starts a new conversation; resolves with the current one. Idempotent while the
   * current conversation has no message yet. A visitor who was never stored stays in the first one.
   */
  startConversation(
    shopId: ShopId,
    id: VisitorId,
  ): Promise<Pick<VisitorRecord, 'conversation' | 'lane'>>;

  /**
   * Stores the entry, its journal line and the use of its uploads in one durable write. The entry's
   * lane is that of the visitor's current conversation at that moment, because another tab may have
   * started a new one. Messages of one lane are delivered in the order of their lines. A duplicate
   * resolves with the first line's `seq`, also when a guest wrote that line before being merged
   * into this visitor; to detect this, the entry's dedup key begins with the visitor's id.
   * `unknown_upload` and `joined` (this visitor was merged into another): nothing was stored.
   */
  acceptMessage(
    entry: NewChatEntry,
    message: VisitorMessage,
  ): Promise<
    (Accepted & { readonly seq: number; readonly at: number }) | 'unknown_upload' | 'joined'
  >;
  /**
   * Appends a reply, or replaces the text of the line if the visitor, merged or not, has it with
   * another one. Undefined when nothing has changed, there is no such visitor, or the line has a
   * text that the platform wrote later (`updatedAt`): two readers may store in any order.
   */
  storeReply(reply: PlatformReply): Promise<StoredReply | undefined>;
  /**
   * Gives a visitor's message this state, unless it has one that may not follow (`STATES_BEFORE`).
   * Resolves with the visitor that has the line now; undefined when there is no such visitor, or
   * the line has kept another state.
   */
  markMessage(
    shopId: ShopId,
    visitorId: VisitorId,
    messageId: string,
    state: MarkedState,
  ): Promise<VisitorId | undefined>;
  /** Lines with `seq > from`, oldest first, up to `maxBytes` of text as JSON but at least one. */
  linesAfter(...asked: AskedLines): Promise<readonly JournalLine[]>;
  /** Lines with `rev > from`, in the order of their changes, with the same byte limit. */
  linesRevised(...asked: AskedLines): Promise<readonly JournalLine[]>;
  /** The newest `limit` lines with `seq < from`, oldest first, with the same byte limit. */
  linesBefore(...asked: AskedLines): Promise<readonly JournalLine[]>;
  /** The conversations of these visitors' lanes, and of guests who were merged into them. */
  conversationsOf(
    shopId: ShopId,
    visitors: readonly VisitorId[],
  ): Promise<readonly WatchedConversation[]>;

  /** False, and nothing is stored: the visitor has `unusedAtMost` uploads that no message used. */
  addUpload(
    upload: UploadRecord & { shopId: ShopId; visitorId: VisitorId; at: number },
    unusedAtMost: number,
  ): Promise<boolean>;
  /** The uploads among `ids` that this visitor may still use, in the order given. */
  unusedUploads(
    shopId: ShopId,
    visitorId: VisitorId,
    ids: readonly string[],
  ): Promise<readonly UploadRecord[]>;
  /** This visitor's upload, used or not, while its file is kept. */
  upload(shopId: ShopId, visitorId: VisitorId, id: string): Promise<UploadRecord | undefined>;
  /**
   * Deletes an upload of this visitor that no message has used; undefined when there is none.
   * Resolves with its file, which no row references any more: the caller deletes it.
   */
  removeUpload(shopId: ShopId, visitorId: VisitorId, id: string): Promise<BlobName | undefined>;
  countUnusedUploads(shopId: ShopId, visitorId: VisitorId): Promise<number>;
}

/** The parameters of a method. */
export type ChatParams<Method extends keyof ChatStore> = Parameters<ChatStore[Method]>;
