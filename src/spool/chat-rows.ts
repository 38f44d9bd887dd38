import type { ShopId, VisitorId } from '../domain/ids.ts';
import type {
  ChatAttachment,
  ChatFormat,
  JournalLine,
  MarkedState,
  ReplyChoice,
  UploadRecord,
  VisitorRecord,
} from './chat-store.ts';

/** The rows of the chat tables, which have the same columns in every database. */

export interface VisitorRow {
  readonly id: VisitorId;
  readonly shop: ShopId;
  readonly name: string | null;
  readonly email: string | null;
  readonly subject: string | null;
  readonly conversation: number;
  readonly last_seq: number;
  readonly seen_seq: number;
  readonly last_rev: number;
  readonly logouts: number;
  readonly created_at: number;
  readonly joined: VisitorId | null;
  /** The lane of a merged guest that the visitor continues; null: it is the visitor's own. */
  readonly lane: string | null;
}

/**
 * The states that each may follow, so that a mark that comes late takes nothing back. A message that
 * failed may be delivered after all, by a retry; until then, its visitor is told that it failed.
 */
export const STATES_BEFORE: Readonly<Record<MarkedState, readonly JournalLine['state'][]>> = {
  failed: ['accepted'],
  delivered: ['accepted', 'failed'],
  seen: ['accepted', 'delivered'],
};

/** The lane of messages in the visitor's current conversation. */
export const laneOf = (row: Pick<VisitorRow, 'id' | 'conversation' | 'lane'>): string =>
  row.lane ?? `${row.id}/${row.conversation}`;

/** `laneOf` in SQL, of a row with this alias. */
export const laneInSql = (alias: string): string =>
  `coalesce(${alias}.lane, ${alias}.id || '/' || ${alias}.conversation)`;

export const toVisitor = (row: VisitorRow): VisitorRecord => ({
  id: row.id,
  shopId: row.shop,
  conversation: row.conversation,
  lane: laneOf(row),
  lastSeq: row.last_seq,
  seenSeq: row.seen_seq,
  lastRev: row.last_rev,
  logouts: row.logouts,
  createdAt: row.created_at,
  ...(row.name !== null && { name: row.name }),
  ...(row.email !== null && { email: row.email }),
  ...(row.subject !== null && { subject: row.subject }),
  ...(row.joined !== null && { joined: row.joined }),
});

export interface LineRow {
  readonly seq: number;
  readonly message_id: string;
  readonly sender: 'visitor' | 'agent';
  readonly text: string;
  readonly format: ChatFormat;
  readonly attachments: string;
  readonly at: number;
  readonly state: JournalLine['state'];
  readonly agent_id: string | null;
  readonly user_id: string | null;
  /** 0 while the text is the first one. */
  readonly rev: number;
  /** JSON of ReplyChoices. */
  readonly choices: string | null;
}

export const toLine = (row: LineRow): JournalLine => ({
  seq: row.seq,
  id: row.message_id,
  from: row.sender,
  text: row.text,
  format: row.format,
  // Written by JSON.stringify of ChatAttachments.
  attachments: JSON.parse(row.attachments) as ChatAttachment[],
  at: row.at,
  state: row.state,
  ...((row.agent_id ?? row.user_id) !== null && {
    author: {
      ...(row.agent_id !== null && { agentId: row.agent_id }),
      ...(row.user_id !== null && { userId: row.user_id }),
    },
  }),
  ...(row.rev > 0 && { rev: row.rev }),
  // Written by JSON.stringify of ReplyChoices.
  ...(row.choices !== null && { choices: JSON.parse(row.choices) as ReplyChoice[] }),
});

export type UploadRow = Omit<UploadRecord, 'checksum'> & { readonly checksum: number | null };

export const toUpload = ({ checksum, ...upload }: UploadRow): UploadRecord => ({
  ...upload,
  ...(checksum !== null && { checksum }),
});

/**
 * The maximum number of reserved guests per visitor. Tokens that were never used are free to
 * create, so a client that identifies itself again and again with new ones must not fill the table.
 */
export const MOST_RESERVED = 20;
/** How long a reserved guest's row is kept: by then, nothing of the guest is in transit. */
export const RESERVED_KEPT_MS = 24 * 60 * 60 * 1000;
/** An upload that no message used. */
export const UPLOAD_KEPT_MS = 24 * 60 * 60 * 1000;
