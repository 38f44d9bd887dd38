import type { BlobName, ShopId, VisitorId } from '../types/ids.ts';
import type { Accepted, NewEntry } from './entry.ts';

/** The formats of a chat text, as the platform names them (API §2.2). */
export type ChatFormat = 'TEXT' | 'MARKDOWN' | 'HTML';

export interface ChatAttachment {
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
  /** Number of the visitor's current conversation: the lane is `<visitor>/<conversation>`. */
  readonly conversation: number;
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
}

export interface VisitorMessage {
  readonly visitorId: VisitorId;
  readonly messageId: string;
  readonly text: string;
  readonly uploadIds: readonly string[];
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
  updateVisitor(
    shopId: ShopId,
    id: VisitorId,
    change: { name?: string; email?: string; subject?: string; seenSeq?: number },
  ): Promise<void>;
  /**
   * The next message opens a new conversation; resolves with its number.
   * Idempotent while the current conversation has no message yet.
   */
  startConversation(shopId: ShopId, id: VisitorId): Promise<number>;

  /**
   * Stores the entry, its journal line and the use of its uploads in one durable write. A
   * duplicate resolves with the first line's `seq`. `unknown_upload`: nothing was stored.
   */
  acceptMessage(
    entry: NewEntry,
    message: VisitorMessage,
  ): Promise<(Accepted & { readonly seq: number; readonly at: number }) | 'unknown_upload'>;
  /** Appends an agent's reply; undefined when this visitor already has it. */
  appendReply(reply: {
    shopId: ShopId;
    visitorId: VisitorId;
    platformMessageId: string;
    text: string;
    format: ChatFormat;
    at: number;
  }): Promise<JournalLine | undefined>;
  markMessage(
    shopId: ShopId,
    visitorId: VisitorId,
    messageId: string,
    state: 'delivered' | 'failed',
  ): Promise<void>;
  /** Lines with `seq > after`, oldest first. */
  linesAfter(
    shopId: ShopId,
    id: VisitorId,
    after: number,
    limit: number,
  ): Promise<readonly JournalLine[]>;
  /** Lines with `seq < before`, oldest first, the newest `limit` of them. */
  linesBefore(
    shopId: ShopId,
    id: VisitorId,
    before: number,
    limit: number,
  ): Promise<readonly JournalLine[]>;
  /** The conversations that lanes of these visitors remember. */
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
  countUnusedUploads(shopId: ShopId, visitorId: VisitorId): Promise<number>;
}
