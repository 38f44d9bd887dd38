import type { ListMessagesQuery } from '../../platform-api/schemas.ts';
import type { Db } from './database.ts';
import { equals, listSlice, oneOf, type Slice } from './listing.ts';
import type { MediaRow, MessageRow } from './rows.ts';

export interface NewMessage {
  readonly id: string;
  readonly shop: string;
  readonly conversationId: string;
  readonly ticketId: string;
  readonly contactId: string | null;
  readonly agentId: string | null;
  readonly content: string;
  readonly text: string;
  readonly format: string;
  readonly role: 'customer' | 'agent';
  readonly status: 'PENDING' | 'DELIVERED';
  readonly remoteId: string | null;
  readonly email: string | null;
  readonly createdAt: string;
  readonly now: string;
  /** The agent has yet to look at it. */
  readonly unanswered: boolean;
  readonly inReplyTo: string | null;
}

export class MessageTable {
  readonly #db: Db;
  readonly #sql;

  constructor(db: Db) {
    this.#db = db;
    this.#sql = {
      byId: db.prepare<[string, string], MessageRow>(
        `SELECT * FROM messages WHERE shop = ? AND id = ?`,
      ),
      byDedupKey: db.prepare<[string, string], MessageRow>(
        `SELECT * FROM messages WHERE shop = ? AND remote_id = ? AND role = 'customer'`,
      ),
      all: db.prepare<[string], MessageRow>(`SELECT * FROM messages WHERE shop = ? ORDER BY seq`),
      insert: db.prepare<unknown[], MessageRow>(
        `INSERT INTO messages (id, shop, conversation_id, ticket_id, contact_id, agent_id, content,
           text, format, role, status, type, remote_id, email, created_at, updated_at, unanswered,
           in_reply_to)
         VALUES (@id, @shop, @conversationId, @ticketId, @contactId, @agentId, @content,
           @text, @format, @role, @status, 'External', @remoteId, @email, @createdAt, @now,
           @unanswered, @inReplyTo) RETURNING *`,
      ),
      attach: db.prepare(
        `INSERT INTO attachments (message_id, position, media_id) VALUES (?, ?, ?)`,
      ),
      attachments: db.prepare<[string], MediaRow>(
        `SELECT m.* FROM attachments a JOIN media m ON m.id = a.media_id
         WHERE a.message_id = ? ORDER BY a.position`,
      ),
      answered: db.prepare(`UPDATE messages SET unanswered = 0 WHERE id = ? AND unanswered = 1`),
      settle: db.prepare(`UPDATE messages SET status = ?, updated_at = ? WHERE id = ?`),
      unanswered: db.prepare<[string], MessageRow>(
        `SELECT * FROM messages WHERE unanswered = 1 AND conversation_id = ? ORDER BY seq`,
      ),
      unsent: db.prepare<[string], MessageRow>(
        `SELECT * FROM messages
         WHERE role = 'agent' AND status = 'PENDING' AND conversation_id = ? ORDER BY seq`,
      ),
      unfinished: db.prepare<[], { conversation_id: string }>(
        `SELECT conversation_id FROM messages WHERE unanswered = 1
         UNION SELECT conversation_id FROM messages WHERE role = 'agent' AND status = 'PENDING'`,
      ),
      latest: db.prepare<[string, number, number], MessageRow>(
        `SELECT * FROM messages WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      ),
      repliesSince: db.prepare<[string, string], { n: number }>(
        `SELECT count(*) AS n FROM messages
         WHERE conversation_id = ? AND role = 'agent' AND created_at > ?`,
      ),
    };
  }

  byId(shop: string, id: string): MessageRow | undefined {
    return this.#sql.byId.get(shop, id);
  }

  /** The customer's message that a reply answers. */
  answeredBy(reply: MessageRow): MessageRow | undefined {
    return reply.in_reply_to === null ? undefined : this.byId(reply.shop, reply.in_reply_to);
  }

  byDedupKey(shop: string, remoteId: string): MessageRow | undefined {
    return this.#sql.byDedupKey.get(shop, remoteId);
  }

  create(message: NewMessage, attachments: readonly string[] = []): MessageRow {
    const row = this.#sql.insert.get({ ...message, unanswered: message.unanswered ? 1 : 0 });
    if (row === undefined) throw new Error('a message that was not stored');
    for (const [position, id] of attachments.entries()) this.#sql.attach.run(row.id, position, id);
    return row;
  }

  attachments(messageId: string): MediaRow[] {
    return this.#sql.attachments.all(messageId);
  }

  /** True for the first caller only: one message gets one answer. */
  markAnswered(id: string): boolean {
    return this.#sql.answered.run(id).changes === 1;
  }

  settle(id: string, status: 'DELIVERED' | 'FAILED', now: string): void {
    this.#sql.settle.run(status, now, id);
  }

  /** Customers' messages that the agent has yet to look at, oldest first. */
  unanswered(conversationId: string): MessageRow[] {
    return this.#sql.unanswered.all(conversationId);
  }

  /** Replies that have not gone out, oldest first. */
  unsent(conversationId: string): MessageRow[] {
    return this.#sql.unsent.all(conversationId);
  }

  /** The conversations that have either: what a stop left to do. */
  unfinished(): string[] {
    return this.#sql.unfinished.all().map((row) => row.conversation_id);
  }

  /** The last messages of a conversation before this one, oldest first. */
  before(message: Pick<MessageRow, 'conversation_id' | 'seq'>, limit: number): MessageRow[] {
    return this.#sql.latest.all(message.conversation_id, message.seq, limit).reverse();
  }

  repliesSince(conversationId: string, since: string): number {
    return this.#sql.repliesSince.get(conversationId, since)?.n ?? 0;
  }

  /** Oldest first. */
  all(shop: string): MessageRow[] {
    return this.#sql.all.all(shop);
  }

  list(shop: string, query: ListMessagesQuery): Slice<MessageRow> {
    return listSlice(
      this.#db,
      'messages',
      [
        ...equals('shop', shop),
        ...equals('conversation_id', query.conversation_id),
        ...oneOf('conversation_id', query.conversation_id__in),
        ...equals('ticket_id', query.ticket_id),
      ],
      query,
    );
  }
}
