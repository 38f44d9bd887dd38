import type { Db } from './database.ts';

/** A conversation rarely has more replies that wait; thousands may wait in all. */
const REPLIES_LOOKED_AT = 8;

/** A reply that has yet to leave. */
export interface OutgoingRow {
  message_id: string;
  shop: string;
  conversation_id: string;
  /** Begun so far, the one that is under way included. */
  attempts: number;
  /** Milliseconds since the epoch. */
  next_at: number;
  /** When the first attempt began of those whose end is not known. */
  begun_at: number | null;
  /** Of a reply that leaves in several parts: how many are out. */
  parts_sent: number;
}

/**
 * The replies that are PENDING, each with its own schedule. A reply's row is removed in the write
 * that makes it DELIVERED or FAILED.
 */
export class OutgoingTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      adopt: db.prepare(
        `INSERT INTO departures (message_id, shop, conversation_id, seq, next_at)
         SELECT id, shop, conversation_id, seq, ? FROM messages INDEXED BY messages_unsent
         WHERE role = 'agent' AND status = 'PENDING' ON CONFLICT DO NOTHING`,
      ),
      add: db.prepare(
        `INSERT INTO departures (message_id, shop, conversation_id, seq, next_at)
         VALUES (@id, @shop, @conversation_id, @seq, @nextAt) ON CONFLICT DO NOTHING`,
      ),
      // The busy ones are passed as a JSON array.
      due: db.prepare<[number, string, number], { conversation_id: string }>(
        `SELECT conversation_id FROM departures
         WHERE next_at <= ? AND conversation_id NOT IN (SELECT value FROM json_each(?))
         ORDER BY next_at LIMIT ?`,
      ),
      nextAt: db.prepare<[number], { at: number | null }>(
        `SELECT min(next_at) AS at FROM departures WHERE next_at > ?`,
      ),
      ofConversation: db.prepare<[string], OutgoingRow>(
        `SELECT * FROM departures WHERE conversation_id = ? ORDER BY seq`,
      ),
      begin: db.prepare(
        `UPDATE departures SET attempts = attempts + 1, begun_at = coalesce(begun_at, ?)
         WHERE message_id = ?`,
      ),
      partSent: db.prepare(
        `UPDATE departures SET parts_sent = parts_sent + 1, begun_at = ? WHERE message_id = ?`,
      ),
      defer: db.prepare(
        `UPDATE departures SET next_at = @nextAt, begun_at = iif(@isUnsure, begun_at, NULL)
         WHERE message_id = @id`,
      ),
      holdBack: db.prepare(
        `UPDATE departures SET next_at = max(next_at, ?) WHERE conversation_id = ?`,
      ),
      remove: db.prepare(`DELETE FROM departures WHERE message_id = ?`),
    };
  }

  /** Every PENDING reply gets its row, if it has none: what an earlier version or a crash left. */
  adopt(nowMs: number): void {
    this.#sql.adopt.run(nowMs);
  }

  /** In the write that stores the reply. */
  add(
    reply: {
      readonly id: string;
      readonly shop: string;
      readonly conversation_id: string;
      readonly seq: number;
    },
    nextAt: number,
  ): void {
    const { id, shop, conversation_id, seq } = reply;
    this.#sql.add.run({ id, shop, conversation_id, seq, nextAt });
  }

  /**
   * Conversations that have a reply to send now, longest due first: at least one when there are any,
   * and `limit` at most.
   */
  due(nowMs: number, busy: readonly string[], limit: number): string[] {
    const rows = this.#sql.due.all(nowMs, JSON.stringify(busy), limit * REPLIES_LOOKED_AT);
    return [...new Set(rows.map((row) => row.conversation_id))].slice(0, limit);
  }

  /** When the next reply is due that is not due yet; in milliseconds since the epoch. */
  nextAt(nowMs: number): number | undefined {
    return this.#sql.nextAt.get(nowMs)?.at ?? undefined;
  }

  /** Oldest first. */
  ofConversation(conversationId: string): OutgoingRow[] {
    return this.#sql.ofConversation.all(conversationId);
  }

  /** An attempt begins: should the program end now, it is known that the reply may be out. */
  begin(id: string, nowMs: number): void {
    this.#sql.begin.run(nowMs, id);
  }

  /** One more part is out, and the next one begins. */
  partSent(id: string, nowMs: number): void {
    this.#sql.partSent.run(nowMs, id);
  }

  /** Tried again at `nextAt`; `isUnsure` when it may have gone out nevertheless. */
  defer(id: string, nextAt: number, isUnsure: boolean): void {
    this.#sql.defer.run({ id, nextAt, isUnsure: isUnsure ? 1 : 0 });
  }

  /** Nothing of this conversation leaves before `nextAt`. */
  holdBack(conversationId: string, nextAt: number): void {
    this.#sql.holdBack.run(nextAt, conversationId);
  }

  remove(id: string): void {
    this.#sql.remove.run(id);
  }
}
