import { randomUUID } from 'node:crypto';
import type { ListTicketsQuery, TicketFilters } from '../../platform-api/schemas.ts';
import { createdAtRange } from './created-at-range.ts';
import type { Db } from './database.ts';
import { type Condition, count, equals, listSlice, oneOf, type Slice } from './listing.ts';
import type { TicketRow } from './rows.ts';

export interface NewTicket {
  readonly shop: string;
  readonly number: number;
  readonly name: string;
  readonly summary: string;
  readonly agentId: string;
  readonly contactId: string;
  readonly conversationId: string;
  readonly messageId: string;
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
      insert: db.prepare<unknown[], TicketRow>(
        `INSERT INTO tickets (id, shop, number, name, status, summary, agent_id, contact_id,
           conversation_id, message_id, last_message_at, last_message_content, created_at, updated_at)
         VALUES (@id, @shop, @number, @name, 'New', @summary, @agentId, @contactId,
           @conversationId, @messageId, @now, @summary, @now, @now) RETURNING *`,
      ),
      spoken: db.prepare(
        `UPDATE tickets SET status = @status, completed_at = NULL, last_message_at = @now,
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

  create(ticket: NewTicket): TicketRow {
    const row = this.#sql.insert.get({ ...ticket, id: randomUUID() });
    if (row === undefined) throw new Error('a ticket that was not stored');
    return row;
  }

  /** Someone spoke: the ticket is open again, whatever it was, and waits for the other side. */
  spoken(
    id: string,
    status: 'Open' | 'WaitingContact' | 'WaitingUser',
    excerpt: string,
    now: string,
  ): void {
    this.#sql.spoken.run({ id, status, excerpt, now });
  }

  list(shop: string, query: ListTicketsQuery, nowMs: number): Slice<TicketRow> {
    return listSlice(this.#db, 'tickets', conditions(shop, query, nowMs), query);
  }

  count(shop: string, filters: TicketFilters, nowMs: number): number {
    return count(this.#db, 'tickets', conditions(shop, filters, nowMs));
  }
}

/** API §4.2 */
function conditions(shop: string, filters: TicketFilters, nowMs: number): Condition[] {
  const range = filters.created_at__range;
  const window = range === undefined ? undefined : createdAtRange(range, nowMs);
  return [
    ...equals('shop', shop),
    ...equals('id', filters.id),
    ...equals('agent_id', filters.agent_id),
    ...equals('assignee_id', filters.assignee_id),
    ...equals('conversation_id', filters.conversation_id),
    ...oneOf('conversation_id', filters.conversation_id__in),
    ...equals('label_id', filters.label_id),
    ...equals('priority', filters.priority),
    ...oneOf('priority', filters.priority__in),
    ...(window
      ? [
          { sql: 'created_at >= ?', value: window.from },
          { sql: 'created_at <= ?', value: window.to },
        ]
      : []),
  ];
}
