import type { BlobName, ShopId, VisitorId } from '../domain/ids.ts';
import type { Accepted, NewEntry } from './entry.ts';

/** The formats of a chat text, as the platform names them (API §2.2). */
export type ChatFormat = 'TEXT' | 'MARKDOWN' | 'HTML';

export interface ChatAttachment {
  /** Of the upload; lines of earlier versions have none. */
  readonly id?: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** One line of a visitor's numbered record, in both directions and across conversations. */
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
  /** What became of a visitor's message; a reply is always `delivered`. */
  readonly state: 'accepted' | 'delivered' | 'failed';
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
  /** The order key of what is written into the current conversation. */
  readonly lane: string;
  /** The visitor whose history this one's has joined: nothing is kept under this one any more. */
  readonly joined?: VisitorId;
  readonly lastSeq: number;
  readonly seenSeq: number;
  readonly createdAt: number;
}

export interface UploadRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly blob: BlobName;
  /** Of its bytes (`raw-checksum.ts`); absent where an earlier version stored it. */
  readonly checksum?: number;
}

export interface VisitorMessage {
  readonly visitorId: VisitorId;
  readonly messageId: string;
  readonly text: string;
  readonly uploadIds: readonly string[];
}

/** Whom a shop's own server vouches for, and which client says so. */
export interface VisitorIdentity {
  readonly shopId: ShopId;
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  /** The anonymous visitor that this client has been. */
  readonly guestId?: VisitorId;
  /** For a visitor who is not known yet, and has been nobody. */
  readonly newId: VisitorId;
  readonly at: number;
}

export interface Identified {
  readonly visitor: VisitorRecord;
  /** The guest was anonymous, and is this visitor now: its old tokens stand for nobody. */
  readonly superseded?: VisitorId;
  /** Lines that the guest brought along. */
  readonly joinedLines: number;
}

export interface WatchedConversation {
  readonly visitorId: VisitorId;
  readonly conversationId: string;
  /** When the visitor last wrote into it. */
  readonly usedAt: number;
}

/**
 * What the chat channel keeps beside the spool's entries. It lives in the same database, so that
 * a visitor's message, its number in the journal and the uploads it uses are one durable write.
 */
export interface ChatStore {
  visitor(shopId: ShopId, id: VisitorId): Promise<VisitorRecord | undefined>;
  visitorBySubject(shopId: ShopId, subject: string): Promise<VisitorRecord | undefined>;
  createVisitor(visitor: {
    shopId: ShopId;
    id: VisitorId;
    name?: string;
    email?: string;
    subject?: string;
    createdAt: number;
  }): Promise<VisitorRecord>;
  /** The email of a visitor who has a subject changes only together with the subject. */
  updateVisitor(
    shopId: ShopId,
    id: VisitorId,
    change: { name?: string; email?: string; subject?: string; seenSeq?: number },
  ): Promise<void>;
  /**
   * The visitor of a verified identity, made when there is none. An anonymous guest becomes it, or
   * joins it when it exists: all of the guest's lines move behind the visitor's own, in their
   * order, and uploads and conversations with them; what still comes for the guest (replies, ticks,
   * an upload under way) reaches the visitor. All of it in one durable write, and once: a guest who
   * has an identity, or has joined another visitor, stays what he is.
   */
  identifyVisitor(identity: VisitorIdentity): Promise<Identified>;
  /**
   * The next message opens a new conversation; resolves with the current one.
   * Idempotent while the current conversation has no message yet.
   */
  startConversation(
    shopId: ShopId,
    id: VisitorId,
  ): Promise<Pick<VisitorRecord, 'conversation' | 'lane'>>;

  /**
   * Stores the entry, its journal line and the use of its uploads in one durable write. A
   * duplicate resolves with the first line's `seq`, also when it was written as a guest who has
   * joined this visitor; hence the entry's dedup key begins with the visitor's id.
   * `unknown_upload`: nothing was stored. `joined`: nothing either, this visitor is another now.
   */
  acceptMessage(
    entry: NewEntry,
    message: VisitorMessage,
  ): Promise<
    (Accepted & { readonly seq: number; readonly at: number }) | 'unknown_upload' | 'joined'
  >;
  /** Appends an agent's reply; undefined when this visitor, or whom he has joined, has it. */
  appendReply(reply: {
    shopId: ShopId;
    visitorId: VisitorId;
    platformMessageId: string;
    text: string;
    format: ChatFormat;
    at: number;
  }): Promise<{ readonly visitorId: VisitorId; readonly line: JournalLine } | undefined>;
  /** Resolves with whose line it is now; undefined when there is no such visitor. */
  markMessage(
    shopId: ShopId,
    visitorId: VisitorId,
    messageId: string,
    state: 'delivered' | 'failed',
  ): Promise<VisitorId | undefined>;
  /**
   * Lines with `seq > after`, oldest first: as many as have `maxBytes` of text as JSON, one at least.
   */
  linesAfter(
    shopId: ShopId,
    id: VisitorId,
    after: number,
    limit: number,
    maxBytes?: number,
  ): Promise<readonly JournalLine[]>;
  /** Lines with `seq < before`, oldest first, the newest `limit` of them; likewise. */
  linesBefore(
    shopId: ShopId,
    id: VisitorId,
    before: number,
    limit: number,
    maxBytes?: number,
  ): Promise<readonly JournalLine[]>;
  /** The conversations that lanes of these visitors remember, and of those who joined them. */
  conversationsOf(
    shopId: ShopId,
    visitors: readonly VisitorId[],
  ): Promise<readonly WatchedConversation[]>;

  addUpload(
    upload: UploadRecord & { shopId: ShopId; visitorId: VisitorId; at: number },
  ): Promise<void>;
  /** Those of `ids` that this visitor may still use, in the order given. */
  unusedUploads(
    shopId: ShopId,
    visitorId: VisitorId,
    ids: readonly string[],
  ): Promise<readonly UploadRecord[]>;
  /** This visitor's upload, used or not, while its file is kept. */
  upload(shopId: ShopId, visitorId: VisitorId, id: string): Promise<UploadRecord | undefined>;
  /**
   * Forgets an upload of this visitor that no message has used; undefined when there is none.
   * Resolves with its file, which no row names any more: the caller deletes it.
   */
  removeUpload(shopId: ShopId, visitorId: VisitorId, id: string): Promise<BlobName | undefined>;
  countUnusedUploads(shopId: ShopId, visitorId: VisitorId): Promise<number>;
}
