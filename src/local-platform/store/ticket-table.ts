import { randomUUID } from 'node:crypto';
import { utcTime } from '../../platform-api/date-time.ts';
import type { ListTicketsQuery, TicketFilters } from '../../platform-api/schemas.ts';
import type { Cursors } from './cursors.ts';
import { type Db, statements } from './database.ts';
import {
  allOf,
  type Bounds,
  type Condition,
  equals,
  just,
  listSlice,
  oneOf,
  type Slice,
  type Streams,
  valuesOf,
} from './listing.ts';
import type { MessageRow, TicketRow } from './rows.ts';
import { invalidRequest } from '../api-error.ts';
import { LIMITS } from '../open-points.ts';

interface NewTicket {
  readonly shop: string;
  readonly number: number;
  readonly name: string;
  /** The beginning of its first message. */
  readonly excerpt: string;
  readonly agentId: string;
  readonly contactId: string;
  readonly conversationId: string;
  /** Null if it begins with a reply. */
  readonly messageId: string | null;
  /** When its first message was written. */
  readonly spokenAt: string;
  readonly now: string;
}

export function ticketTable(db: Db, cursors: Cursors) {
  const { row, rows, run, one } = statements(db);
  const insert = one<[NewTicket & { id: string }], TicketRow>(
    `INSERT INTO tickets (id, shop, number, name, status, agent_id, contact_id,
       conversation_id, message_id, last_message_at, last_message_content, created_at, updated_at,
       waits_since)
     VALUES (@id, @shop, @number, @name, 'New', @agentId, @contactId,
       @conversationId, @messageId, @spokenAt, @excerpt, @now, @now, @now) RETURNING *`,
  );
  const byId = row<[shop: string, id: string], TicketRow>(
    `SELECT * FROM tickets WHERE shop = ? AND id = ?`,
  );
  const update = run<[{ id: string; status: string; excerpt: string; now: string; at: string }]>(
    `UPDATE tickets SET status = @status, completed_at = NULL,
       last_message_at = max(coalesce(last_message_at, ''), @at),
       last_message_content = @excerpt, updated_at = @now,
       waits_since = iif(@status IN ('New', 'Open', 'WaitingUser'), coalesce(waits_since, @now), NULL)
     WHERE id = @id`,
  );
  const summarize = run<[summary: string, id: string]>(
    `UPDATE tickets SET summary = ? WHERE id = ?`,
  );
  return {
    summarize,
    create: (ticket: NewTicket) => insert({ ...ticket, id: randomUUID() }),
    byId,
    byConversation: row<[conversationId: string], TicketRow>(
      `SELECT * FROM tickets WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1`,
    ),
    /** Newest first. */
    byContact: rows<[contactId: string, shop: string, limit: number], TicketRow>(
      `SELECT * FROM tickets WHERE contact_id = ? AND shop = ? ORDER BY seq DESC LIMIT ?`,
    ),
    /**
     * Records a new message: the ticket is reopened and waits for the other side.
     * @param at when the message was written; a late message does not move the time back
     */
    recordMessage(
      id: string,
      status: 'Open' | 'WaitingContact' | 'WaitingUser',
      excerpt: string,
      now: string,
      at = now,
    ): void {
      update({ id, status, excerpt, now, at });
    },
    /** Sets whose turn it is; the last message and its time stay. */
    setTurn(
      { shop, ticket_id: id }: Pick<MessageRow, 'shop' | 'ticket_id'>,
      status: 'Open' | 'WaitingUser' | 'WaitingContact',
      nowMs: number,
    ): void {
      const ticket = byId(shop, id);
      if (ticket === undefined || ticket.status === status) return;
      const { last_message_content: excerpt, last_message_at: at } = ticket;
      const now = new Date(nowMs).toISOString();
      update({ id, status, excerpt: excerpt ?? '', now, at: at ?? '' });
    },
    list: (shop: string, query: ListTicketsQuery, nowMs: number): Slice<TicketRow> =>
      listSlice(db, cursors, new TicketFinder(db, shop, query, nowMs).streams(), {
        ...query,
        shop,
      }),
    count: (shop: string, filters: TicketFilters, nowMs: number): number =>
      new TicketFinder(db, shop, filters, nowMs).count(),
  };
}

interface Window {
  readonly from: string;
  readonly to: string;
}

/**
 * Finds tickets by their filters (API §4.2, §4.4): by id, conversation or time alone through their
 * indexes, by anything else through the matching facets of the shop. A shop has few facets, and each
 * has a count of its tickets.
 */
export class TicketFinder {
  readonly #db: Db;
  readonly #shop: string;
  readonly #filters: TicketFilters;
  readonly #window: Window | undefined;

  /** @throws {ApiError} 400 for an invalid or too large time window */
  constructor(db: Db, shop: string, filters: TicketFilters, nowMs: number) {
    this.#db = db;
    this.#shop = shop;
    this.#filters = filters;
    const range = filters.created_at__range;
    this.#window = range === undefined ? undefined : createdAtRange(range, nowMs);
  }

  streams(): Streams {
    const { id } = this.#filters;
    if (id !== undefined) return this.#byId(id);
    if (this.#namesConversation) return this.#byConversation();
    const rest = {
      conditions: this.#created(),
      within: this.#window && this.#bounds(this.#window),
    };
    if (this.#shared('f').length === 0) {
      const of = just(this.#shop);
      return { ...{ table: 'tickets', index: 'tickets_arrival', column: 'shop' }, of, ...rest };
    }
    const of = valuesOf('facet', 'ticket_facets f', this.#facets());
    return { ...{ table: 'tickets', index: 'tickets_facet', column: 'facet' }, of, ...rest };
  }

  count(): number {
    const { sql, values } = this.counting();
    return this.#db.prepare<(string | number)[], { n: number }>(sql).get(...values)?.n ?? 0;
  }

  counting(): Condition {
    if (this.#filters.id !== undefined || this.#namesConversation) return this.#countRows();
    if (this.#window === undefined) {
      const { sql, values } = this.#facets();
      return {
        sql: `SELECT coalesce(sum(tickets), 0) AS n FROM ticket_facets f WHERE ${sql}`,
        values,
      };
    }
    return this.#shared('f').length === 0
      ? countByDay(this.#shop, this.#window)
      : countByFacet(this.#facets(), this.#window, this.#bounds(this.#window));
  }

  get #namesConversation(): boolean {
    const { conversation_id: id, conversation_id__in: ids } = this.#filters;
    return id !== undefined || ids !== undefined;
  }

  #byId(id: string): Streams {
    return {
      ...{ table: 'tickets', index: 'sqlite_autoindex_tickets_1', column: 'id' },
      of: just(id),
      conditions: [
        ...equals('row.shop', this.#shop),
        ...this.#conversations('row.conversation_id'),
        ...this.#shared('row'),
        ...this.#created(),
      ],
    };
  }

  #byConversation(): Streams {
    const where = allOf([...equals('shop', this.#shop), ...this.#conversations('id')]);
    return {
      ...{ table: 'tickets', index: 'tickets_conversation', column: 'conversation_id' },
      of: valuesOf('id', 'conversations', where),
      conditions: [...equals('row.shop', this.#shop), ...this.#shared('row'), ...this.#created()],
    };
  }

  #countRows(): Condition {
    const { index, column, of, conditions } = this.streams();
    const rest = allOf(conditions);
    return {
      sql: `SELECT count(*) AS n FROM (${of.sql}) stream
        JOIN tickets row INDEXED BY ${index} ON row.${column} = stream.value WHERE ${rest.sql}`,
      values: [...of.values, ...rest.values],
    };
  }

  #facets(): Condition {
    return allOf([...equals('f.shop', this.#shop), ...this.#shared('f')]);
  }

  /** The columns that tickets and facets both have. */
  #shared(table: string): Condition[] {
    const filters = this.#filters;
    return [
      ...equals(`${table}.agent_id`, filters.agent_id),
      ...equals(`${table}.assignee_id`, filters.assignee_id),
      ...equals(`${table}.label_id`, filters.label_id),
      ...equals(`${table}.priority`, filters.priority),
      ...oneOf(`${table}.priority`, filters.priority__in),
    ];
  }

  #conversations(column: string): Condition[] {
    return [
      ...equals(column, this.#filters.conversation_id),
      ...oneOf(column, this.#filters.conversation_id__in),
    ];
  }

  #created(): Condition[] {
    if (this.#window === undefined) return [];
    const { from, to } = this.#window;
    return [{ sql: 'row.created_at BETWEEN ? AND ?', values: [from, to] }];
  }

  /** The range of `seq` of the tickets of the window's days. */
  #bounds({ from, to }: Window): Bounds {
    const row = this.#db
      .prepare<string[], { first: number | null; last: number | null }>(
        `SELECT min(first_seq) AS first, max(last_seq) AS last FROM ticket_days
         WHERE shop = ? AND day BETWEEN ? AND ?`,
      )
      .get(this.#shop, dayOf(from), dayOf(to));
    // Without such a day the range is empty.
    return { first: row?.first ?? 1, last: row?.last ?? 0 };
  }
}

/** Adds the counts of whole days, and counts the tickets of partial days. */
function countByDay(shop: string, { from, to }: Window): Condition {
  return {
    sql: `
    SELECT coalesce(sum(iif(d.first_at >= ? AND d.last_at <= ?, d.tickets, (
      SELECT count(*) FROM tickets row INDEXED BY tickets_arrival
      WHERE row.shop = d.shop AND row.seq BETWEEN d.first_seq AND d.last_seq
        AND row.created_at BETWEEN ? AND ? AND substr(row.created_at, 1, 10) = d.day
    ))), 0) AS n
    FROM ticket_days d WHERE d.shop = ? AND d.day BETWEEN ? AND ?`,
    values: [from, to, from, to, shop, dayOf(from), dayOf(to)],
  };
}

/** Adds the counts of facets within the window, and counts the tickets of the others. */
function countByFacet(facets: Condition, { from, to }: Window, { first, last }: Bounds): Condition {
  return {
    sql: `
    SELECT coalesce(sum(iif(f.first_at >= ? AND f.last_at <= ?, f.tickets, (
      SELECT count(*) FROM tickets row INDEXED BY tickets_facet
      WHERE row.facet = f.facet AND row.seq BETWEEN ? AND ? AND row.created_at BETWEEN ? AND ?
    ))), 0) AS n
    FROM ticket_facets f WHERE ${facets.sql}`,
    values: [from, to, first, last, from, to, ...facets.values],
  };
}

const dayOf = (at: string) => at.slice(0, 10);

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * The window of `created_at__range` (API §8): `relative:-7d,` for the last 7 days, or a start and
 * an end as ISO 8601 date-times, both inclusive. At most 30 days.
 * @throws {ApiError} 400
 */
export function createdAtRange(text: string, nowMs: number): { from: string; to: string } {
  const [start = '', end = '', ...rest] = text.split(',').map((part) => part.trim());
  if (rest.length > 0 || !text.includes(',')) throw invalid('expected two comma-separated ends');
  const relative = /^relative:-(\d{1,6})([smhdw])$/.exec(start);
  const [from, to] = relative
    ? [nowMs - relativeMs(relative), end === '' ? nowMs : NaN]
    : [parse(start), parse(end)];
  if (Number.isNaN(from) || Number.isNaN(to)) {
    throw invalid('expected "relative:-7d," or two ISO 8601 date-times, whose + is %2B in a URL');
  }
  if (from > to) throw invalid('the start is after the end');
  if (to - from > LIMITS.rangeMaxMs) throw invalid('the maximum window is 30 days');
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function relativeMs([, amount = '', unit = '']: RegExpExecArray): number {
  // The pattern admits these units only.
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

const parse = (text: string) => Date.parse(utcTime(text) ?? '');

const invalid = (reason: string) => invalidRequest({ created_at__range: reason });
