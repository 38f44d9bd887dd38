import type { ShopId, VisitorId } from '../../types/ids.ts';
import type {
  ChatAttachment,
  ChatFormat,
  ChatStore,
  JournalLine,
  UploadRecord,
  VisitorMessage,
  VisitorRecord,
  WatchedConversation,
} from '../chat-store.ts';
import type { Accepted, NewEntry } from '../entry.ts';
import type { Db } from './database.ts';
import type { EntryTable } from './entry-table.ts';

type Params<Method extends keyof ChatStore> = Parameters<ChatStore[Method]>;

/** Visitors, their numbered journals and their uploads; `ChatStore` says what each method means. */
export class ChatTables {
  readonly #entries: EntryTable;
  readonly #sql;

  constructor(db: Db, entries: EntryTable) {
    this.#entries = entries;
    this.#sql = prepare(db);
  }

  visitor(shopId: ShopId, id: VisitorId): VisitorRecord | undefined {
    const row = this.#sql.visitor.get(shopId, id);
    return row && toVisitor(row);
  }

  visitorBySubject(shopId: ShopId, subject: string): VisitorRecord | undefined {
    const row = this.#sql.visitorBySubject.get(shopId, subject);
    return row && toVisitor(row);
  }

  createVisitor(visitor: Params<'createVisitor'>[0]): VisitorRecord {
    this.#sql.createVisitor.run({
      shop: visitor.shopId,
      id: visitor.id,
      name: visitor.name ?? null,
      email: visitor.email ?? null,
      subject: visitor.subject ?? null,
      createdAt: visitor.createdAt,
    });
    const subject = visitor.subject;
    const stored =
      this.visitor(visitor.shopId, visitor.id) ??
      // Two devices of one verified visitor connected at the same time: the first one stands.
      (subject === undefined ? undefined : this.visitorBySubject(visitor.shopId, subject));
    if (stored === undefined) throw new Error('a visitor that was stored cannot be found');
    return stored;
  }

  updateVisitor(shopId: ShopId, id: VisitorId, change: Params<'updateVisitor'>[2]): void {
    this.#sql.updateVisitor.run({
      shop: shopId,
      id,
      name: change.name ?? null,
      email: change.email ?? null,
      subject: change.subject ?? null,
      seenSeq: change.seenSeq ?? null,
    });
  }

  startConversation(shopId: ShopId, id: VisitorId): number {
    this.#sql.startConversation.run(shopId, id);
    return this.visitor(shopId, id)?.conversation ?? 1;
  }

  acceptMessage(
    entry: NewEntry,
    message: VisitorMessage,
  ): (Accepted & { seq: number; at: number }) | 'unknown_upload' {
    const { shopId } = entry;
    const { visitorId, messageId, uploadIds } = message;
    const visitor = this.#mustFind(shopId, visitorId);
    let uploads: UploadRecord[] = [];
    // Uploads are looked at before anything is stored, and a duplicate before its uploads,
    // which are used by now.
    if (uploadIds.length > 0 && this.#entries.firstOf(entry) === undefined) {
      uploads = this.unusedUploads(shopId, visitorId, uploadIds);
      if (uploads.length !== uploadIds.length) return 'unknown_upload';
    }
    const [accepted] = this.#entries.accept([entry]);
    if (accepted === undefined) throw new Error('accept answers each entry');
    if (accepted.duplicate) {
      const first = this.#sql.lineOfVisitor.get(visitor.no, messageId);
      return { ...accepted, seq: first?.seq ?? 0, at: first?.at ?? entry.receivedAt };
    }
    for (const { id } of uploads) this.#sql.useUpload.run(entry.id, id);
    const seq = this.#append(visitor.no, {
      sender: 'visitor',
      messageId,
      text: message.text,
      format: 'TEXT',
      attachments: uploads.map(({ name, type, size }) => ({ name, type, size })),
      at: entry.receivedAt,
      state: 'accepted',
    });
    return { ...accepted, seq, at: entry.receivedAt };
  }

  appendReply(reply: Params<'appendReply'>[0]): JournalLine | undefined {
    const { shopId, visitorId, platformMessageId, text, format, at } = reply;
    const visitor = this.#mustFind(shopId, visitorId);
    if (this.#sql.replyOf.get(visitor.no, platformMessageId) !== undefined) return undefined;
    const line = {
      text,
      format,
      attachments: [],
      at,
      state: 'delivered',
    } as const;
    const seq = this.#append(visitor.no, {
      ...line,
      sender: 'agent',
      messageId: platformMessageId,
    });
    return { ...line, seq, id: platformMessageId, from: 'agent' };
  }

  #mustFind(shopId: ShopId, id: VisitorId): Pick<VisitorRow, 'no'> {
    const visitor = this.#sql.visitorNo.get(shopId, id);
    if (visitor === undefined) throw new Error('a line for a visitor that does not exist');
    return visitor;
  }

  #append(visitor: number, line: NewLine): number {
    const next = this.#sql.nextSeq.get(visitor);
    if (next === undefined) throw new Error('the visitor was there a moment ago');
    this.#sql.insertLine.run({
      ...line,
      visitor,
      seq: next.seq,
      attachments: JSON.stringify(line.attachments),
    });
    return next.seq;
  }

  markMessage(
    shopId: ShopId,
    visitorId: VisitorId,
    messageId: string,
    state: 'delivered' | 'failed',
  ): void {
    const visitor = this.#sql.visitorNo.get(shopId, visitorId);
    if (visitor === undefined) return;
    const line = this.#sql.lineOfVisitor.get(visitor.no, messageId);
    if (line !== undefined) this.#sql.mark.run(state, line.line);
  }

  linesAfter(shopId: ShopId, id: VisitorId, after: number, limit: number): JournalLine[] {
    const visitor = this.#sql.visitorNo.get(shopId, id);
    return visitor ? this.#sql.linesAfter.all(visitor.no, after, limit).map(toLine) : [];
  }

  linesBefore(shopId: ShopId, id: VisitorId, before: number, limit: number): JournalLine[] {
    const visitor = this.#sql.visitorNo.get(shopId, id);
    if (visitor === undefined) return [];
    return this.#sql.linesBefore.all(visitor.no, before, limit).map(toLine).reverse();
  }

  conversationsOf(shopId: ShopId, visitors: readonly VisitorId[]): WatchedConversation[] {
    return visitors.flatMap((visitorId) =>
      this.#sql.conversationsOf
        .all(shopId, `${visitorId}/`, `${visitorId}0`)
        .map((row) => ({ visitorId, ...row })),
    );
  }

  addUpload(upload: Params<'addUpload'>[0]): void {
    const { id, shopId, visitorId, name, type, size, blob, at } = upload;
    this.#sql.addUpload.run(id, shopId, visitorId, name, type, size, blob, at);
  }

  unusedUploads(shopId: ShopId, visitorId: VisitorId, ids: readonly string[]): UploadRecord[] {
    return [...new Set(ids)].flatMap(
      (id) => this.#sql.unusedUpload.get(id, shopId, visitorId) ?? [],
    );
  }

  countUnusedUploads(shopId: ShopId, visitorId: VisitorId): number {
    return this.#sql.countUnused.get(shopId, visitorId)?.count ?? 0;
  }
}

interface NewLine {
  readonly sender: 'visitor' | 'agent';
  readonly messageId: string;
  readonly text: string;
  readonly format: ChatFormat;
  readonly attachments: readonly ChatAttachment[];
  readonly at: number;
  readonly state: JournalLine['state'];
}

interface VisitorRow {
  readonly no: number;
  readonly id: VisitorId;
  readonly shop: ShopId;
  readonly name: string | null;
  readonly email: string | null;
  readonly subject: string | null;
  readonly conversation: number;
  readonly last_seq: number;
  readonly seen_seq: number;
  readonly created_at: number;
}

interface LineRow {
  readonly line: number;
  readonly seq: number;
  readonly message_id: string;
  readonly sender: 'visitor' | 'agent';
  readonly text: string;
  readonly format: ChatFormat;
  readonly attachments: string;
  readonly at: number;
  readonly state: JournalLine['state'];
}

const toVisitor = (row: VisitorRow): VisitorRecord => ({
  id: row.id,
  shopId: row.shop,
  conversation: row.conversation,
  lastSeq: row.last_seq,
  seenSeq: row.seen_seq,
  createdAt: row.created_at,
  ...(row.name !== null && { name: row.name }),
  ...(row.email !== null && { email: row.email }),
  ...(row.subject !== null && { subject: row.subject }),
});

const toLine = (row: LineRow): JournalLine => ({
  seq: row.seq,
  id: row.message_id,
  from: row.sender,
  text: row.text,
  format: row.format,
  // Written by JSON.stringify of ChatAttachments in `#append`.
  attachments: JSON.parse(row.attachments) as ChatAttachment[],
  at: row.at,
  state: row.state,
});

function prepare(db: Db) {
  return {
    visitor: db.prepare<[string, string], VisitorRow>(
      `SELECT * FROM visitors WHERE shop = ? AND id = ?`,
    ),
    visitorBySubject: db.prepare<[string, string], VisitorRow>(
      `SELECT * FROM visitors WHERE shop = ? AND subject = ? AND subject IS NOT NULL`,
    ),
    createVisitor: db.prepare(
      `INSERT INTO visitors (shop, id, name, email, subject, created_at)
       VALUES (@shop, @id, @name, @email, @subject, @createdAt) ON CONFLICT DO NOTHING`,
    ),
    updateVisitor: db.prepare(
      `UPDATE OR IGNORE visitors SET name = coalesce(@name, name), email = coalesce(@email, email),
         subject = coalesce(@subject, subject), seen_seq = max(seen_seq, coalesce(@seenSeq, 0))
       WHERE shop = @shop AND id = @id`,
    ),
    startConversation: db.prepare(
      `UPDATE visitors SET conversation = conversation + 1, conversation_from_seq = last_seq
       WHERE shop = ? AND id = ? AND last_seq > conversation_from_seq`,
    ),
    visitorNo: db.prepare<[string, string], Pick<VisitorRow, 'no'>>(
      `SELECT no FROM visitors WHERE shop = ? AND id = ?`,
    ),
    // From the newest: what is asked for was written a moment ago.
    lineOfVisitor: db.prepare<[number, string], Pick<LineRow, 'line' | 'seq' | 'at'>>(
      `SELECT line, seq, at FROM journal
       WHERE visitor = ? AND sender = 'visitor' AND message_id = ? ORDER BY seq DESC LIMIT 1`,
    ),
    replyOf: db.prepare<[number, string]>(
      `SELECT 1 FROM journal WHERE visitor = ? AND message_id = ? AND sender = 'agent'`,
    ),
    nextSeq: db.prepare<[number], { seq: number }>(
      `UPDATE visitors SET last_seq = last_seq + 1 WHERE no = ? RETURNING last_seq AS seq`,
    ),
    insertLine: db.prepare(
      `INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state)
       VALUES (@visitor, @seq, @sender, @messageId, @text, @format, @attachments, @at, @state)`,
    ),
    mark: db.prepare(`UPDATE journal SET state = ? WHERE line = ?`),
    // "+ 0": SQLite prepares a statement anew whenever the value of a bare LIMIT ? is bound.
    linesAfter: db.prepare<[number, number, number], LineRow>(
      `SELECT * FROM journal WHERE visitor = ? AND seq > ? ORDER BY seq LIMIT ? + 0`,
    ),
    linesBefore: db.prepare<[number, number, number], LineRow>(
      `SELECT * FROM journal WHERE visitor = ? AND seq < ? ORDER BY seq DESC LIMIT ? + 0`,
    ),
    // '0' is the character after '/': the range is every lane of the visitor.
    conversationsOf: db.prepare<
      [string, string, string],
      { conversationId: string; usedAt: number }
    >(
      `SELECT conversation_id AS conversationId, used_at AS usedAt FROM conversations
       WHERE shop = ? AND channel = 'web_chat' AND lane >= ? AND lane < ? ORDER BY used_at DESC`,
    ),
    addUpload: db.prepare(
      `INSERT INTO uploads (id, shop, visitor, name, type, size, blob, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    useUpload: db.prepare(`UPDATE uploads SET entry = ? WHERE id = ?`),
    unusedUpload: db.prepare<[string, string, string], UploadRecord>(
      `SELECT id, name, type, size, blob FROM uploads
       WHERE id = ? AND shop = ? AND visitor = ? AND entry IS NULL`,
    ),
    countUnused: db.prepare<[string, string], { count: number }>(
      `SELECT count(*) AS count FROM uploads WHERE shop = ? AND visitor = ? AND entry IS NULL`,
    ),
  };
}
