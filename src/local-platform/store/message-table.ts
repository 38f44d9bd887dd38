import type { ListMessagesQuery } from '../../platform-api/schemas.ts';
import { LIMITS } from '../open-points.ts';
import { allOf, equals, listSlice, oneOf, type Slice, type Streams } from './listing.ts';
import { type Db, required } from './database.ts';
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
  /** Whether the agent still has to handle it. */
  readonly unanswered: boolean;
  readonly inReplyTo: string | null;
  /** Of a customer's message: the address or number to reply to. */
  readonly sender: string | null;
  /** Of a customer's message: the shop's address or number that it was sent to. */
  readonly agentContact: string | null;
}

interface HistoryKey {
  readonly conversation_id: string;
  readonly seq: number;
  readonly limit: number;
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
           in_reply_to, sender, agent_contact)
         VALUES (@id, @shop, @conversationId, @ticketId, @contactId, @agentId, @content,
           @text, @format, @role, @status, 'External', @remoteId, @email, @createdAt, @now,
           @unanswered, @inReplyTo, @sender, @agentContact) RETURNING *`,
      ),
      attach: db.prepare(
        `INSERT INTO attachments (message_id, position, media_id) VALUES (?, ?, ?)`,
      ),
      attachments: db.prepare<[string], MediaRow>(
        `SELECT m.* FROM attachments a JOIN media m ON m.id = a.media_id
         WHERE a.message_id = ? ORDER BY a.position`,
      ),
      markAnswered: db.prepare(
        `UPDATE messages SET unanswered = 0 WHERE id = ? AND unanswered = 1`,
      ),
      settle: db.prepare(`UPDATE messages SET status = ?, updated_at = ? WHERE id = ?`),
      setRemoteId: db.prepare(
        `UPDATE messages SET remote_id = coalesce(remote_id, ?) WHERE id = ?`,
      ),
      unanswered: db.prepare<[string], { id: string }>(
        `SELECT id FROM messages WHERE unanswered = 1 AND conversation_id = ? ORDER BY seq`,
      ),
      laterUnanswered: db.prepare<[string, number], { one: number }>(
        `SELECT 1 AS one FROM messages WHERE unanswered = 1 AND conversation_id = ? AND seq > ?`,
      ),
      anyShop: db.prepare<[string], MessageRow>(`SELECT * FROM messages WHERE id = ?`),
      // A reply is placed after the message that it answers, whenever it was stored.
      history: db.prepare<[HistoryKey], Pick<MessageRow, 'role' | 'text'>>(
        `SELECT m.role, m.text FROM (
           SELECT * FROM (SELECT seq FROM messages WHERE conversation_id = @conversation_id
             AND seq < @seq ORDER BY seq DESC LIMIT @limit)
           UNION ALL
           SELECT * FROM (SELECT seq FROM messages WHERE conversation_id = @conversation_id
             AND role = 'agent' AND seq > @seq ORDER BY created_at DESC LIMIT @limit)
         ) history CROSS JOIN messages m ON m.seq = history.seq
         LEFT JOIN messages question ON question.id = m.in_reply_to
         ORDER BY coalesce(question.seq, m.seq) DESC, m.seq DESC LIMIT @limit`,
      ),
      isReply: db.prepare<[string, string, string], { one: number }>(
        `SELECT 1 AS one FROM messages
         WHERE shop = ? AND remote_id = ? AND role = 'agent' AND conversation_id = ?`,
      ),
      conversationsToAnswer: db.prepare<[], { conversation_id: string }>(
        `SELECT DISTINCT conversation_id FROM messages WHERE unanswered = 1`,
      ),
      before: db.prepare<[string, number, number], MessageRow>(
        `SELECT * FROM messages WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      ),
      after: db.prepare<[string, number, number], MessageRow>(
        `SELECT * FROM messages WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
      ),
      lastOfCustomer: db.prepare<[string], MessageRow>(
        `SELECT * FROM messages WHERE conversation_id = ? AND role = 'customer'
         ORDER BY seq DESC LIMIT 1`,
      ),
      hasReply: db.prepare<[string, string], { one: number }>(
        `SELECT 1 AS one FROM messages WHERE shop = ? AND remote_id = ? AND role = 'agent'`,
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

  lastOfCustomer(conversationId: string): MessageRow | undefined {
    return this.#sql.lastOfCustomer.get(conversationId);
  }

  byDedupKey(shop: string, remoteId: string): MessageRow | undefined {
    return this.#sql.byDedupKey.get(shop, remoteId);
  }

  create(message: NewMessage, attachments: readonly string[] = []): MessageRow {
    const values = { ...message, unanswered: message.unanswered ? 1 : 0 };
    const row = required(this.#sql.insert.get(values), 'the message');
    for (const [position, id] of attachments.entries()) this.#sql.attach.run(row.id, position, id);
    return row;
  }

  attachments(messageId: string): MediaRow[] {
    return this.#sql.attachments.all(messageId);
  }

  /** True for the first call only, so that a message gets one answer. */
  markAnswered(id: string): boolean {
    return this.#sql.markAnswered.run(id).changes === 1;
  }

  /** Sets the final status of a reply. */
  settle(id: string, status: 'DELIVERED' | 'FAILED', now: string): void {
    this.#sql.settle.run(status, now, id);
  }

  /** Sets the provider's id of a reply, unless it has one. */
  setRemoteId(id: string, remoteId: string): void {
    this.#sql.setRemoteId.run(remoteId, id);
  }

  /** The ids of customers' messages that the agent still has to handle, oldest first. */
  unanswered(conversationId: string): string[] {
    return this.#sql.unanswered.all(conversationId).map(({ id }) => id);
  }

  /** Whether the conversation has a later message that the agent still has to handle. */
  hasLaterUnanswered({ conversation_id: id, seq }: MessageRow): boolean {
    return this.#sql.laterUnanswered.get(id, seq) !== undefined;
  }

  /** Of any shop, for the agent. */
  get(id: string): MessageRow | undefined {
    return this.#sql.anyShop.get(id);
  }

  /**
   * The conversation before this message, oldest first. Each reply follows the message that it
   * answers, even if the reply was stored after this message.
   */
  historyBefore(
    { conversation_id, seq }: Pick<MessageRow, 'conversation_id' | 'seq'>,
    limit: number,
  ): Pick<MessageRow, 'role' | 'text'>[] {
    return this.#sql.history.all({ conversation_id, seq, limit }).reverse();
  }

  /** Whether this message-id belongs to a reply of this conversation. */
  isReply(shop: string, remoteId: string, conversationId: string): boolean {
    return this.#sql.isReply.get(shop, remoteId, conversationId) !== undefined;
  }

  /** Conversations with a message that the agent still has to handle, for the start. */
  conversationsToAnswer(): string[] {
    return this.#sql.conversationsToAnswer.all().map((row) => row.conversation_id);
  }

  /** The last messages of a conversation before this one, oldest first. */
  before(message: Pick<MessageRow, 'conversation_id' | 'seq'>, limit: number): MessageRow[] {
    return this.#sql.before.all(message.conversation_id, message.seq, limit).reverse();
  }

  /** The first messages of a conversation that were stored after one, oldest first. */
  after(conversationId: string, seq: number, limit: number): MessageRow[] {
    return this.#sql.after.all(conversationId, seq, limit);
  }

  /** Whether a reply of the shop has this provider id. */
  hasReply(shop: string, remoteId: string): boolean {
    return this.#sql.hasReply.get(shop, remoteId) !== undefined;
  }

  repliesSince(conversationId: string, since: string): number {
    return this.#sql.repliesSince.get(conversationId, since)?.n ?? 0;
  }

  /** Oldest first. */
  all(shop: string): MessageRow[] {
    return this.#sql.all.all(shop);
  }

  list(shop: string, query: ListMessagesQuery): Slice<MessageRow> {
    return listSlice(this.#db, messageStreams(shop, query), query, {
      bytes: 'octet_length(listed.content) + octet_length(listed.text)',
      max: LIMITS.messagesPageMaxBytes,
    });
  }
}

/** API §4.5. A ticket's messages are those of its conversation. */
export function messageStreams(shop: string, query: ListMessagesQuery): Streams {
  const conversations = (column: string) => [
    ...equals('shop', shop),
    ...equals(column, query.conversation_id),
    ...oneOf(column, query.conversation_id__in),
  ];
  const byConversation = { index: 'messages_conversation', column: 'conversation_id' };
  if (query.ticket_id !== undefined) {
    const of = allOf([...conversations('conversation_id'), ...equals('id', query.ticket_id)]);
    return {
      ...{ table: 'messages', ...byConversation },
      of: {
        sql: `SELECT conversation_id AS value FROM tickets WHERE ${of.sql}`,
        values: of.values,
      },
      conditions: equals('row.ticket_id', query.ticket_id),
    };
  }
  if (query.conversation_id !== undefined || query.conversation_id__in !== undefined) {
    const of = allOf(conversations('id'));
    return {
      ...{ table: 'messages', ...byConversation },
      of: { sql: `SELECT id AS value FROM conversations WHERE ${of.sql}`, values: of.values },
      conditions: [],
    };
  }
  return {
    ...{ table: 'messages', index: 'messages_shop', column: 'shop' },
    of: { sql: 'SELECT ? AS value', values: [shop] },
    conditions: [],
  };
}
