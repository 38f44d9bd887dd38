import type { Statement } from 'better-sqlite3';
import type { EntryId, VisitorId } from '../../domain/ids.ts';
import { laneOf, type LineRow, STATES_BEFORE, toLine, type VisitorRow } from '../chat-rows.ts';
import type {
  AskedLines,
  ChatParams,
  JournalLine,
  NewChatEntry,
  PlatformReply,
  StoredReply,
  UploadRecord,
  VisitorMessage,
} from '../chat-store.ts';
import type { Accepted } from '../entry.ts';
import type { ColdOperations } from '../cold/operations.ts';
import type { Db } from './database.ts';
import type { EntryTable } from './entry-table.ts';

type Uploads = Pick<ColdOperations, 'unusedUploads' | 'countUnusedUploads'>;

/**
 * The numbered journals of visitors, and their uploads. `ChatStore` documents
 * the methods.
 */
export class ChatJournal {
  readonly #entries: EntryTable;
  readonly #uploads: Uploads;
  readonly #sql;

  constructor(db: Db, entries: EntryTable, uploads: Uploads) {
    this.#entries = entries;
    this.#uploads = uploads;
    this.#sql = prepare(db);
  }

  acceptMessage(
    entry: NewChatEntry,
    message: VisitorMessage,
  ): (Accepted & { seq: number; at: number }) | 'unknown_upload' | 'joined' {
    const { shopId } = entry;
    const { visitorId, messageId, uploadIds } = message;
    const visitor = this.#sql.standsFor.get(shopId, visitorId);
    // The visitor was erased while a tab was open: it has to reconnect as a new visitor.
    if (visitor?.id !== visitorId) return 'joined';
    const asGuest = this.#firstOfGuests(entry, visitorId);
    let uploads: UploadRecord[] = [];
    // Uploads are checked before anything is stored, and duplicates before uploads, because a
    // duplicate's uploads are already used.
    if (uploadIds.length > 0 && (asGuest ?? this.#entries.firstOf(entry)) === undefined) {
      uploads = this.#uploads.unusedUploads(shopId, visitorId, uploadIds);
      if (uploads.length !== uploadIds.length) return 'unknown_upload';
    }
    const [accepted] =
      asGuest === undefined
        ? this.#entries.accept([{ ...entry, lane: laneOf(visitor) }])
        : [{ id: asGuest, duplicate: true }];
    if (accepted === undefined) throw new Error('accept answers each entry');
    if (accepted.duplicate) {
      const first = this.#sql.lineOfVisitor.get(visitor.no, messageId);
      return { ...accepted, seq: first?.seq ?? 0, at: first?.at ?? entry.receivedAt };
    }
    for (const { id } of uploads) this.#sql.useUpload.run(entry.id, id);
    const attachments = uploads.map(({ id, name, type, size }) => ({ id, name, type, size }));
    const seq = this.#append(visitor.no, {
      sender: 'visitor',
      message_id: messageId,
      text: message.text,
      format: 'TEXT',
      attachments: JSON.stringify(attachments),
      at: entry.receivedAt,
      state: 'accepted',
      ...{ agent_id: null, user_id: null, updated_at: null, choices: null },
    });
    return { ...accepted, seq, at: entry.receivedAt };
  }

  /** The entry of the same message if it was written before the visitor was identified. */
  #firstOfGuests(entry: NewChatEntry, visitorId: VisitorId): EntryId | undefined {
    for (const { id } of this.#sql.guestsOf.all(entry.shopId, visitorId)) {
      const dedupKey = id + entry.dedupKey.slice(visitorId.length);
      const first = this.#entries.firstOf({ ...entry, dedupKey });
      if (first !== undefined) return first;
    }
    return undefined;
  }

  storeReply(reply: PlatformReply): StoredReply | undefined {
    const { shopId, visitorId, platformMessageId, text, format, at } = reply;
    const { author, choices, updatedAt } = reply;
    const visitor = this.#sql.standsFor.get(shopId, visitorId);
    // The visitor was erased after their conversations were listed.
    if (visitor === undefined) return undefined;
    const known = this.#sql.replyOf.get(visitor.no, platformMessageId);
    if (known !== undefined) return this.#revise(visitor, known, reply);
    const askedAt = this.#sql.unanswered.get({ visitor: visitor.no })?.at ?? undefined;
    const line: NewLine = {
      sender: 'agent',
      message_id: platformMessageId,
      ...{ text, format, attachments: '[]', at, state: 'delivered' },
      agent_id: author?.agentId ?? null,
      user_id: author?.userId ?? null,
      updated_at: updatedAt ?? null,
      choices: choices ? JSON.stringify(choices) : null,
    };
    const seq = this.#append(visitor.no, line);
    return {
      visitorId: visitor.id,
      line: toLine({ ...line, seq, rev: 0 }),
      isNew: true,
      ...(askedAt !== undefined && { askedAt }),
    };
  }

  /** Replaces the text of a reply, unless the platform wrote the stored one later. */
  #revise(
    visitor: Owner,
    known: KnownReply,
    { text, format, updatedAt }: PlatformReply,
  ): StoredReply | undefined {
    if (known.text === text && known.format === format) return undefined;
    if ((updatedAt ?? Infinity) < (known.updated_at ?? 0)) return undefined;
    const rev = this.#sql.nextRev.get(visitor.no)?.rev ?? 0;
    const updated = updatedAt ?? null;
    this.#sql.revise.run({ line: known.line, text, format, rev, updatedAt: updated });
    return {
      visitorId: visitor.id,
      line: toLine({ ...known, text, format, rev }),
      isNew: false,
    };
  }

  #append(visitor: number, line: NewLine): number {
    const next = this.#sql.nextSeq.get(visitor);
    if (next === undefined) throw new Error('the visitor was there a moment ago');
    this.#sql.insertLine.run({ ...line, visitor, seq: next.seq });
    return next.seq;
  }

  markMessage(...[shopId, visitorId, messageId, state]: ChatParams<'markMessage'>) {
    const visitor = this.#sql.standsFor.get(shopId, visitorId);
    if (visitor === undefined) return undefined;
    const line = this.#sql.lineOfVisitor.get(visitor.no, messageId);
    if (line === undefined || line.state === state) return visitor.id;
    if (!STATES_BEFORE[state].includes(line.state)) return undefined;
    this.#sql.mark.run(state, line.line);
    return visitor.id;
  }

  linesAfter(...asked: AskedLines): JournalLine[] {
    return this.#lines(this.#sql.linesAfter, asked);
  }

  linesRevised(...asked: AskedLines): JournalLine[] {
    return this.#lines(this.#sql.linesRevised, asked);
  }

  linesBefore(...asked: AskedLines): JournalLine[] {
    // Read from the newest line on.
    return this.#lines(this.#sql.linesBefore, asked).reverse();
  }

  /** The first of the rows, up to `maxBytes` of text as JSON; at least one. */
  #lines(
    rows: LineRows,
    [shopId, id, from, limit, maxBytes = Infinity]: AskedLines,
  ): JournalLine[] {
    const visitor = this.#sql.visitorNo.get(shopId, id);
    if (visitor === undefined) return [];
    const taken: JournalLine[] = [];
    let bytes = 0;
    for (const row of rows.iterate(visitor.no, from, limit)) {
      bytes += Buffer.byteLength(JSON.stringify(row.text));
      if (taken.length > 0 && bytes > maxBytes) break;
      taken.push(toLine(row));
    }
    return taken;
  }

  addUpload(upload: ChatParams<'addUpload'>[0], unusedAtMost: number): boolean {
    const { id, shopId, visitorId, name, type, size, blob, checksum = null, at } = upload;
    const owner = this.#sql.standsFor.get(shopId, visitorId)?.id;
    if (owner === undefined) throw new Error('a line for a visitor that does not exist');
    if (this.#uploads.countUnusedUploads(shopId, owner) >= unusedAtMost) return false;
    this.#sql.addUpload.run(id, shopId, owner, name, type, size, blob, checksum, at);
    return true;
  }
}

/** The visitor that a line belongs to; `lane` and `conversation` are those of the one asked for. */
interface Owner extends Pick<VisitorRow, 'id' | 'conversation' | 'lane'> {
  readonly no: number;
}

type NewLine = Omit<LineRow, 'seq' | 'rev'> & { readonly updated_at: number | null };

type KnownReply = LineRow & { readonly line: number; readonly updated_at: number | null };

type LineRows = Statement<[number, number, number], LineRow>;

function prepare(db: Db) {
  return {
    // Only the client's own visitor: a guest's token must not read another visitor's lines.
    visitorNo: db.prepare<[string, string], Pick<Owner, 'no'>>(
      `SELECT no FROM visitors WHERE shop = ? AND id = ?`,
    ),
    standsFor: db.prepare<[string, string], Owner>(
      `SELECT coalesce(known.no, visitor.no) AS no, coalesce(known.id, visitor.id) AS id,
         visitor.conversation, visitor.lane
       FROM visitors AS visitor
       LEFT JOIN visitors AS known ON known.shop = visitor.shop AND known.id = visitor.joined
       WHERE visitor.shop = ? AND visitor.id = ?`,
    ),
    // Guests with data: a reserved id never had a message or a conversation.
    guestsOf: db.prepare<[string, string], Pick<VisitorRow, 'id'>>(
      `SELECT id FROM visitors WHERE shop = ? AND joined = ? AND reserved = 0 ORDER BY no DESC`,
    ),
    // Newest first, because the line was usually written a moment ago.
    lineOfVisitor: db.prepare<
      [number, string],
      Pick<LineRow, 'seq' | 'at' | 'state'> & { line: number }
    >(
      `SELECT line, seq, at, state FROM journal
       WHERE visitor = ? AND sender = 'visitor' AND message_id = ? ORDER BY seq DESC LIMIT 1`,
    ),
    replyOf: db.prepare<[number, string], KnownReply>(
      `SELECT * FROM journal WHERE visitor = ? AND message_id = ? AND sender = 'agent'`,
    ),
    unanswered: db.prepare<{ visitor: number }, { at: number | null }>(
      `SELECT min(at) AS at FROM journal WHERE visitor = @visitor AND seq > coalesce(
         (SELECT seq FROM journal WHERE visitor = @visitor AND sender = 'agent'
          ORDER BY seq DESC LIMIT 1), 0)`,
    ),
    nextRev: db.prepare<[number], { rev: number }>(
      `UPDATE visitors SET last_rev = last_rev + 1 WHERE no = ? RETURNING last_rev AS rev`,
    ),
    revise: db.prepare(
      `UPDATE journal SET text = @text, format = @format, rev = @rev, updated_at = @updatedAt
       WHERE line = @line`,
    ),
    nextSeq: db.prepare<[number], { seq: number }>(
      `UPDATE visitors SET last_seq = last_seq + 1 WHERE no = ? RETURNING last_seq AS seq`,
    ),
    insertLine: db.prepare(
      `INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state,
         agent_id, user_id, updated_at, choices)
       VALUES (@visitor, @seq, @sender, @message_id, @text, @format, @attachments, @at, @state,
         @agent_id, @user_id, @updated_at, @choices)`,
    ),
    mark: db.prepare(`UPDATE journal SET state = ? WHERE line = ?`),
    // "+ 0": SQLite prepares a statement again whenever the value of a bare LIMIT ? is bound.
    linesAfter: db.prepare<[number, number, number], LineRow>(
      `SELECT * FROM journal WHERE visitor = ? AND seq > ? ORDER BY seq LIMIT ? + 0`,
    ),
    linesRevised: db.prepare<[number, number, number], LineRow>(
      `SELECT * FROM journal WHERE visitor = ? AND rev > ? AND rev > 0 ORDER BY rev, seq LIMIT ? + 0`,
    ),
    linesBefore: db.prepare<[number, number, number], LineRow>(
      `SELECT * FROM journal WHERE visitor = ? AND seq < ? ORDER BY seq DESC LIMIT ? + 0`,
    ),
    addUpload: db.prepare(
      `INSERT INTO uploads (id, shop, visitor, name, type, size, blob, checksum, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    useUpload: db.prepare(`UPDATE uploads SET entry = ? WHERE id = ?`),
  };
}
