import { randomUUID } from 'node:crypto';
import type { ListTicketsQuery, TicketFilters } from '../../platform-api/schemas.ts';
import type { Db } from './database.ts';
import { listSlice, type Slice } from './listing.ts';
import type { TicketRow } from './rows.ts';
import { TicketFinder } from './ticket-filters.ts';

export interface NewTicket {
  readonly shop: string;
  readonly number: number;
  readonly name: string;
  readonly summary: string;
  readonly agentId: string;
  readonly contactId: string;
  readonly conversationId: string;
  readonly messageId: string;
  /** When its first message was written. */
  readonly spokenAt: string;
  readonly now: string;
}

export class TicketTable {
  readonly #db: Db;
  readonly #sql;

  constructor(db: Db) {
    this.#db = db;
    this.#sql = {
      byId: db.prepare<[string, string], TicketRow>(
        `SELECT * FROM tickets WHERE shop = ? AND id = ?`,
      ),
      byConversation: db.prepare<[string], TicketRow>(
        `SELECT * FROM tickets WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1`,
      ),
      byContact: db.prepare<[string, string, number], TicketRow>(
        `SELECT * FROM tickets WHERE contact_id = ? AND shop = ? ORDER BY seq DESC LIMIT ?`,
      ),
      insert: db.prepare<unknown[], TicketRow>(
        `INSERT INTO tickets (id, shop, number, name, status, summary, agent_id, contact_id,
           conversation_id, message_id, last_message_at, last_message_content, created_at, updated_at)
         VALUES (@id, @shop, @number, @name, 'New', @summary, @agentId, @contactId,
           @conversationId, @messageId, @spokenAt, @summary, @now, @now) RETURNING *`,
      ),
      spoken: db.prepare(
        `UPDATE tickets SET status = @status, completed_at = NULL,
           last_message_at = max(coalesce(last_message_at, ''), @at),
           last_message_content = @excerpt, updated_at = @now WHERE id = @id`,
      ),
    };
  }

  byId(shop: string, id: string): TicketRow | undefined {
    return this.#sql.byId.get(shop, id);
  }

  byConversation(conversationId: string): TicketRow | undefined {
    return this.#sql.byConversation.get(conversationId);
  }

  /** Newest first. */
  byContact(shop: string, contactId: string, limit: number): TicketRow[] {
    return this.#sql.byContact.all(contactId, shop, limit);
  }

  create(ticket: NewTicket): TicketRow {
    const row = this.#sql.insert.get({ ...ticket, id: randomUUID() });
    if (row === undefined) throw new Error('a ticket that was not stored');
    return row;
  }

  /**
   * Someone spoke: the ticket is open again, whatever it was, and waits for the other side.
   * @param at when the message was written; one that arrives late does not turn the time back
   */
  spoken(
    id: string,
    status: 'Open' | 'WaitingContact' | 'WaitingUser',
    excerpt: string,
    now: string,
    at = now,
  ): void {
    this.#sql.spoken.run({ id, status, excerpt, now, at });
  }

  list(shop: string, query: ListTicketsQuery, nowMs: number): Slice<TicketRow> {
    return listSlice(this.#db, new TicketFinder(this.#db, shop, query, nowMs).streams(), query);
  }

  count(shop: string, filters: TicketFilters, nowMs: number): number {
    return new TicketFinder(this.#db, shop, filters, nowMs).count();
  }
}
