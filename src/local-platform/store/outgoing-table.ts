import { type Db, statements } from './database.ts';
import type { MessageRow } from './rows.ts';

/** Rows to read per conversation: few conversations have more replies that are due. */
const ROWS_PER_CONVERSATION = 8;

/** A reply that is still to be sent. */
export interface OutgoingRow {
  message_id: string;
  shop: string;
  conversation_id: string;
  /** The number of attempts, including the current one. */
  attempts: number;
  /** Milliseconds since the epoch. */
  next_at: number;
  /** When the first attempt with an unknown result began; milliseconds since the epoch. */
  begun_at: number | null;
  /** The number of sent parts of a reply that is sent in several parts. */
  parts_sent: number;
  /** When it was queued again; null: when it was written. */
  queued_at: number | null;
}

/**
 * The PENDING replies, each with its own schedule. A reply's row is removed in the same write that
 * sets its status to DELIVERED or FAILED. Times are in milliseconds since the epoch.
 */
export function outgoingTable(db: Db) {
  const { row, rows, value, column, run } = statements(db);
  const add = run<[MessageRow & { nextAt: number; queuedAt: number | null; partsSent: number }]>(
    `INSERT INTO departures (message_id, shop, conversation_id, seq, next_at, queued_at, parts_sent)
     VALUES (@id, @shop, @conversation_id, @seq, @nextAt, @queuedAt, @partsSent)
     ON CONFLICT DO NOTHING`,
  );
  // The conversations to exclude are passed as a JSON array.
  const due = column<[nowMs: number, busy: string, limit: number], string>(
    `SELECT conversation_id FROM departures
     WHERE next_at <= ? AND conversation_id NOT IN (SELECT value FROM json_each(?))
     ORDER BY next_at LIMIT ?`,
  );
  const defer = run<[{ id: string; nextAt: number; isUnsure: number }]>(
    `UPDATE departures SET next_at = @nextAt, begun_at = iif(@isUnsure, begun_at, NULL)
     WHERE message_id = @id`,
  );
  return {
    /** Adds the rows of PENDING replies that have none, after a crash. */
    adopt: run<[nowMs: number]>(
      `INSERT INTO departures (message_id, shop, conversation_id, seq, next_at)
       SELECT id, shop, conversation_id, seq, ? FROM messages INDEXED BY messages_unsent
       WHERE role = 'agent' AND status = 'PENDING' ON CONFLICT DO NOTHING`,
    ),
    /** Must be called in the write that stores the reply. */
    add: (reply: MessageRow, at: number) =>
      add({ ...reply, nextAt: at, queuedAt: null, partsSent: 0 }),
    /** Queues a reply that failed once more. @param partsSent those that have arrived */
    addAgain: (reply: MessageRow, at: number, partsSent: number) =>
      add({ ...reply, nextAt: at, queuedAt: at, partsSent }),
    /**
     * Conversations with a reply that is due, longest due first: at least one if there are any, at
     * most `limit`.
     */
    due(nowMs: number, busy: readonly string[], limit: number): string[] {
      const found = due(nowMs, JSON.stringify(busy), limit * ROWS_PER_CONVERSATION);
      return [...new Set(found)].slice(0, limit);
    },
    /** When the next reply becomes due. */
    nextAt: value<[nowMs: number], number>(`SELECT min(next_at) FROM departures WHERE next_at > ?`),
    /** Oldest first. */
    ofConversation: rows<[conversationId: string], OutgoingRow>(
      `SELECT * FROM departures WHERE conversation_id = ? ORDER BY seq`,
    ),
    /** Records the start of an attempt, so that a crash leaves a note that the reply may be sent. */
    begin: run<[nowMs: number, id: string]>(
      `UPDATE departures SET attempts = attempts + 1, begun_at = coalesce(begun_at, ?)
       WHERE message_id = ?`,
    ),
    /** Records that a part was sent and that the next one begins. */
    partSent: run<[nowMs: number, id: string]>(
      `UPDATE departures SET parts_sent = parts_sent + 1, begun_at = ? WHERE message_id = ?`,
    ),
    /** Schedules the next attempt. @param isUnsure the reply may have been sent nevertheless */
    defer: (id: string, at: number, isUnsure: boolean) =>
      defer({ id, nextAt: at, isUnsure: isUnsure ? 1 : 0 }),
    /** Delays all replies of the conversation until `nextAt` at least. */
    holdBack: run<[nextAt: number, conversationId: string]>(
      `UPDATE departures SET next_at = max(next_at, ?) WHERE conversation_id = ?`,
    ),
    /** The replies of a shop that could not be sent yet, the next one to be tried first. */
    deferred: rows<[shop: string, limit: number], OutgoingRow>(
      `SELECT * FROM departures WHERE shop = ? AND attempts > 0 ORDER BY next_at LIMIT ?`,
    ),
    of: row<[messageId: string], OutgoingRow>(`SELECT * FROM departures WHERE message_id = ?`),
    remove: run<[id: string]>(`DELETE FROM departures WHERE message_id = ?`),
  };
}
