import type { ListMessagesQuery } from '../../platform-api/schemas.ts';
import { LIMITS } from '../open-points.ts';
import {
  allOf,
  equals,
  just,
  listSlice,
  oneOf,
  type Slice,
  type Streams,
  valuesOf,
} from './listing.ts';
import type { Cursors } from './cursors.ts';
import { type Db, statements } from './database.ts';
import type { MessageRow } from './rows.ts';

export interface NewMessage {
  readonly id: string;
  readonly shop: string;
  readonly conversationId: string;
  readonly ticketId: string;
  readonly contactId: string | null;
  readonly agentId: string | null;
  /** The person who wrote it. */
  readonly userId?: string;
  /** A note, which the customer never gets. */
  readonly isInternal?: boolean;
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
  /**
   * The network of a message whose sender nothing confirms, or `FAILS_POLICY`, and of the answer to
   * one (`Addressee.network`): by email anybody may get that. Null otherwise.
   */
  readonly unverifiedFrom?: string | null;
  /** For a reply: `personOf` whom it answers. */
  readonly person?: string | null;
}

type InsertedMessage = Omit<Required<NewMessage>, 'unanswered' | 'userId' | 'isInternal'> & {
  readonly userId: string | null;
  readonly type: 'Internal' | 'External';
  readonly unanswered: number;
};

export type MessageTable = ReturnType<typeof messageTable>;

export const messageTable = (db: Db, cursors: Cursors) => ({
  ...records(db, cursors),
  ...conversations(db),
  ...answers(db),
});

/** A time in which answers are counted; both ends are excluded. */
interface Window {
  readonly since: string;
  readonly until: string;
}

/**
 * The last milliseconds, and as many of the future: answers still count when the clock has been set
 * back, while those that a wrong clock has dated far ahead do not stop the agent.
 */
export const around = (nowMs: number, ms: number): Window => ({
  since: new Date(nowMs - ms).toISOString(),
  until: new Date(nowMs + ms).toISOString(),
});

/** How many messages of a network; null: confirmed, or by no network. */
export interface NetworkCount {
  readonly network: string | null;
  readonly n: number;
}

export const total = (counts: readonly Pick<NetworkCount, 'n'>[]): number =>
  counts.reduce((sum, { n }) => sum + n, 0);

/** The agent's answers, by whom they went to, and what it left to people. Those of people are not counted. */
function answers(db: Db) {
  const { rows, number, has, run } = statements(db);
  return {
    answersToDomain: number<[Window & { readonly shop: string; readonly domain: string }]>(
      `SELECT count(*) FROM messages answer INDEXED BY messages_answers
       JOIN messages question ON question.id = answer.in_reply_to
       WHERE answer.shop = @shop AND answer.person IS NOT NULL AND answer.user_id IS NULL
         AND answer.created_at > @since AND answer.created_at < @until
         AND answer.remote_id IS NOT NULL AND answer.unverified_from IS NULL
         AND substr(replace(lower(question.sender), '@', '.'), -length(@domain) - 1) = '.' || @domain`,
    ),
    answersTo: number<[Window & { readonly person: string }]>(
      `SELECT count(*) FROM messages INDEXED BY messages_person
       WHERE person = @person AND user_id IS NULL AND created_at > @since AND created_at < @until`,
    ),
    /** By network; null: who is confirmed. */
    answersOfShop: rows<[Window & { readonly shop: string }], NetworkCount & { isEmail: number }>(
      `SELECT unverified_from AS network, remote_id IS NOT NULL AS isEmail, count(*) AS n
       FROM messages INDEXED BY messages_answers
       WHERE shop = @shop AND person IS NOT NULL AND user_id IS NULL
         AND created_at > @since AND created_at < @until
       GROUP BY 1, 2`,
    ),
    /** Whether a person at the desk has answered them; a reply that failed does not count. */
    isAnsweredByPeople: has<[person: string]>(
      `SELECT 1 FROM messages INDEXED BY messages_by_people
       WHERE person = ? AND user_id IS NOT NULL AND status <> 'FAILED'`,
    ),
    /** Notes the limit at which the agent leaves a message to people. */
    noteLimit: run<[limit: string, id: string]>(
      `UPDATE messages SET limit_reached = ? WHERE id = ?`,
    ),
    /**
     * How many messages that arrived in this time were left to people at this limit, by the network
     * that delivered an email.
     */
    leftAtLimit: rows<[Window & { readonly shop: string; readonly limit: string }], NetworkCount>(
      `SELECT iif(sender IS NULL, NULL, unverified_from) AS network, count(*) AS n
       FROM messages INDEXED BY messages_limited
       WHERE shop = @shop AND limit_reached = @limit
         AND updated_at > @since AND updated_at < @until
       GROUP BY 1`,
    ),
  };
}

/** Single messages, and the list of the API. */
function records(db: Db, cursors: Cursors) {
  const { row, rows, has, run, one } = statements(db);
  const insert = one<[InsertedMessage], MessageRow>(
    `INSERT INTO messages (id, shop, conversation_id, ticket_id, contact_id, agent_id, user_id,
       content, text, format, role, status, type, remote_id, email, created_at, updated_at,
       unanswered, in_reply_to, sender, agent_contact, unverified_from, person)
     VALUES (@id, @shop, @conversationId, @ticketId, @contactId, @agentId, @userId, @content,
       @text, @format, @role, @status, @type, @remoteId, @email, @createdAt, @now,
       @unanswered, @inReplyTo, @sender, @agentContact, @unverifiedFrom, @person) RETURNING *`,
  );
  const attach = run<[messageId: string, position: number, mediaId: string]>(
    `INSERT INTO attachments (message_id, position, media_id) VALUES (?, ?, ?)`,
  );
  const byId = row<[shop: string, id: string], MessageRow>(
    `SELECT * FROM messages WHERE shop = ? AND id = ?`,
  );
  return {
    create(message: NewMessage, attachments: readonly string[] = []): MessageRow {
      const created = insert({
        ...{ userId: null, unverifiedFrom: null, person: null, ...message },
        type: message.isInternal === true ? 'Internal' : 'External',
        unanswered: message.unanswered ? 1 : 0,
      });
      for (const [position, id] of attachments.entries()) attach(created.id, position, id);
      return created;
    },
    byId,
    /** Of any shop, for the agent. */
    get: row<[id: string], MessageRow>(`SELECT * FROM messages WHERE id = ?`),
    /** Oldest first. */
    all: rows<[shop: string], MessageRow>(`SELECT * FROM messages WHERE shop = ? ORDER BY seq`),
    byDedupKey: row<[shop: string, remoteId: string], MessageRow>(
      `SELECT * FROM messages WHERE shop = ? AND remote_id = ? AND role = 'customer'`,
    ),
    /** The customer's message that a reply answers. */
    answeredBy: (reply: MessageRow): MessageRow | undefined =>
      reply.in_reply_to === null ? undefined : byId(reply.shop, reply.in_reply_to),
    /** Whether a reply to a customer has this file. */
    isOfReply: has<[mediaId: string]>(
      `SELECT 1 FROM attachments a JOIN messages m ON m.id = a.message_id
       WHERE a.media_id = ? AND m.role = 'agent' AND m.type = 'External'`,
    ),
    /** Sets the status of a reply. */
    settle: run<[{ id: string; status: 'PENDING' | 'DELIVERED' | 'FAILED'; now: string }]>(
      `UPDATE messages SET status = @status, updated_at = @now WHERE id = @id`,
    ),
    /** Sets the provider's id of a reply, unless it has one. */
    setRemoteId: run<[{ id: string; remoteId: string }]>(
      `UPDATE messages SET remote_id = coalesce(remote_id, @remoteId) WHERE id = @id`,
    ),
    /** A reply that is sent again has another id. */
    renameReply: run<[{ id: string; remoteId: string }]>(
      `UPDATE messages SET remote_id = @remoteId WHERE id = @id`,
    ),
    /** Whether this message-id belongs to a reply of this conversation. */
    isReply: has<[shop: string, remoteId: string, conversationId: string]>(
      `SELECT 1 FROM messages
       WHERE shop = ? AND remote_id = ? AND role = 'agent' AND conversation_id = ?`,
    ),
    /** The shop's reply with this provider id or message-id. */
    reply: row<[shop: string, remoteId: string], MessageRow>(
      `SELECT * FROM messages WHERE shop = ? AND remote_id = ? AND role = 'agent'`,
    ),
    list: (shop: string, query: ListMessagesQuery): Slice<MessageRow> =>
      listSlice(
        db,
        cursors,
        messageStreams(shop, query),
        { ...query, shop },
        {
          bytes: 'octet_length(listed.content) + octet_length(listed.text)',
          max: LIMITS.messagesPageMaxBytes,
        },
      ),
  };
}

/** A conversation's messages in their order, and those that the agent still has to handle. */
function conversations(db: Db) {
  const { row, rows, value, number, column, has, run } = statements(db);
  const markAnswered = run<[id: string]>(
    `UPDATE messages SET unanswered = 0 WHERE id = ? AND unanswered = 1`,
  );
  const hasUnanswered = has<[conversationId: string, after: number]>(
    `SELECT 1 FROM messages WHERE unanswered = 1 AND conversation_id = ? AND seq > ?`,
  );
  // A reply is placed after the message that it answers, whenever it was stored.
  const history = rows<
    [{ conversation_id: string; seq: number; limit: number }],
    Pick<MessageRow, 'role' | 'text' | 'unverified_from'>
  >(
    `SELECT m.role, m.text, m.unverified_from FROM (
       SELECT * FROM (SELECT seq FROM messages WHERE conversation_id = @conversation_id
         AND seq < @seq AND type = 'External' ORDER BY seq DESC LIMIT @limit)
       UNION ALL
       SELECT * FROM (SELECT seq FROM messages INDEXED BY messages_replies
         WHERE conversation_id = @conversation_id AND role = 'agent' AND seq > @seq
           AND type = 'External' ORDER BY created_at DESC, seq DESC LIMIT @limit)
     ) history CROSS JOIN messages m ON m.seq = history.seq
     LEFT JOIN messages question ON question.id = m.in_reply_to
     ORDER BY coalesce(question.seq, m.seq) DESC, m.seq DESC LIMIT @limit`,
  );
  const before = rows<[conversationId: string, seq: number, limit: number], MessageRow>(
    `SELECT * FROM messages WHERE conversation_id = ? AND seq < ? AND type = 'External'
     ORDER BY seq DESC LIMIT ?`,
  );
  return {
    lastOfCustomer: row<[conversationId: string], MessageRow>(
      `SELECT * FROM messages WHERE conversation_id = ? AND role = 'customer'
       ORDER BY seq DESC LIMIT 1`,
    ),
    firstOfCustomer: row<[conversationId: string], MessageRow>(
      `SELECT * FROM messages WHERE conversation_id = ? AND role = 'customer'
       ORDER BY seq LIMIT 1`,
    ),
    /** Whether it has a message of the customer whose sender is confirmed. */
    hasConfirmed: has<[conversationId: string]>(
      `SELECT 1 FROM messages
       WHERE conversation_id = ? AND role = 'customer' AND unverified_from IS NULL`,
    ),
    /** Whether the customer wrote in this time, both ends included. */
    hasCustomerWritten: has<[conversationId: string, from: string, to: string]>(
      `SELECT 1 FROM messages
       WHERE conversation_id = ? AND role = 'customer' AND created_at BETWEEN ? AND ?`,
    ),
    /** In how many conversations the shop has written this text on its own phone since then. */
    countEchoed: number<[shop: string, since: string, text: string]>(
      `SELECT count(DISTINCT conversation_id) FROM messages INDEXED BY messages_echoes
       WHERE shop = ? AND type = 'Internal' AND remote_id IS NOT NULL AND created_at > ? AND text = ?`,
    ),
    /** When the customer wrote last. Texts may arrive in another order than they were written. */
    customerWroteAt: value<[conversationId: string], string>(
      `SELECT max(created_at) FROM messages WHERE conversation_id = ? AND role = 'customer'`,
    ),
    /** True for the first call only, so that a message gets one answer. */
    markAnswered: (id: string): boolean => markAnswered(id) === 1,
    /** The ids of customers' messages that the agent still has to handle, oldest first. */
    unanswered: column<[conversationId: string], string>(
      `SELECT id FROM messages WHERE unanswered = 1 AND conversation_id = ? ORDER BY seq`,
    ),
    /** Whether the conversation has a later message that the agent still has to handle. */
    hasLaterUnanswered: ({ conversation_id: id, seq }: MessageRow): boolean =>
      hasUnanswered(id, seq),
    /** Conversations with a message that the agent still has to handle, for the start. */
    conversationsToAnswer: column<[], string>(
      `SELECT DISTINCT conversation_id FROM messages WHERE unanswered = 1`,
    ),
    /**
     * The conversation before this message, oldest first, without notes. Each reply follows the message that it
     * answers, even if the reply was stored after this message.
     * @param unconfirmed replaces the texts of customers' messages whose sender nothing confirms
     */
    historyBefore: (
      { conversation_id, seq }: Pick<MessageRow, 'conversation_id' | 'seq'>,
      limit: number,
      unconfirmed?: string,
    ) =>
      history({ conversation_id, seq, limit })
        .reverse()
        .map(({ role, text, unverified_from: network }) => ({
          role,
          text: role === 'customer' && network !== null ? (unconfirmed ?? text) : text,
        })),
    /** The last messages of a conversation before this one, oldest first; no notes. */
    before: (
      { conversation_id: id, seq }: Pick<MessageRow, 'conversation_id' | 'seq'>,
      limit: number,
    ) => before(id, seq, limit).reverse(),
    /** The first messages of a conversation that were stored after one, oldest first; no notes. */
    after: rows<[conversationId: string, seq: number, limit: number], MessageRow>(
      `SELECT * FROM messages WHERE conversation_id = ? AND seq > ? AND type = 'External'
       ORDER BY seq LIMIT ?`,
    ),
  };
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
    const where = allOf([...conversations('conversation_id'), ...equals('id', query.ticket_id)]);
    return {
      ...{ table: 'messages', ...byConversation },
      of: valuesOf('conversation_id', 'tickets', where),
      conditions: equals('row.ticket_id', query.ticket_id),
    };
  }
  if (query.conversation_id !== undefined || query.conversation_id__in !== undefined) {
    return {
      ...{ table: 'messages', ...byConversation },
      of: valuesOf('id', 'conversations', allOf(conversations('id'))),
      conditions: [],
    };
  }
  return {
    ...{ table: 'messages', index: 'messages_shop', column: 'shop' },
    of: just(shop),
    conditions: [],
  };
}
