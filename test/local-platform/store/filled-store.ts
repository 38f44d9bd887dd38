import { randomBytes } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Cursors } from '../../../src/local-platform/store/cursors.ts';
import { contactTable } from '../../../src/local-platform/store/contact-table.ts';
import { conversationTable } from '../../../src/local-platform/store/conversation-table.ts';
import { type Db, openDatabase } from '../../../src/local-platform/store/database.ts';
import { messageTable } from '../../../src/local-platform/store/message-table.ts';
import type { ContactRow, MessageRow, TicketRow } from '../../../src/local-platform/store/rows.ts';
import { type ShopTable, shopTable } from '../../../src/local-platform/store/store.ts';
import { ticketTable } from '../../../src/local-platform/store/ticket-table.ts';
import { ends } from '../../support/ends.ts';
import { newFolder, OTHER, SHOP } from '../harness.ts';

export const NOW = Date.parse('2026-04-30T12:00:00Z');
const HOUR_MS = 3_600_000;

/** Values that no operation sets: a store may come from elsewhere, and the filters exist. */
export const AGENTS = [id('a', 1), id('a', 2)];
export const TEAMMATES = [id('b', 1), id('b', 2), null];
export const LABELS = [id('c', 1), null];
export const PLATFORMS = ['shopware', 'other', null];

function id(prefix: string, n: number): string {
  return `${prefix.repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

export class FilledStore {
  readonly db: Db = openDatabase(join(newFolder(), 'platform.sqlite'));
  readonly cursors = new Cursors(randomBytes(32));
  readonly contacts = contactTable(this.db, this.cursors);
  readonly tickets = ticketTable(this.db, this.cursors);
  readonly messages = messageTable(this.db, this.cursors);

  constructor() {
    ends(() => this.db.close());
  }

  all<Row>(table: 'tickets' | 'messages' | 'contacts'): Row[] {
    return this.db.prepare<[], Row>(`SELECT * FROM ${table} ORDER BY seq DESC`).all();
  }

  get allTickets() {
    return this.all<TicketRow>('tickets');
  }

  get allMessages() {
    return this.all<MessageRow>('messages');
  }

  get allContacts() {
    return this.all<ContactRow>('contacts');
  }
}

/**
 * Two shops with conversations that take turns, over ten days, with a clock that jumps back once,
 * and every combination of what can be filtered by.
 */
export function filledStore(conversations = 120): FilledStore {
  const store = new FilledStore();
  store.db.transaction(() => {
    const shops = shopTable(store.db);
    for (const { shopId } of [SHOP, OTHER]) shops.add(shopId);
    for (let n = 0; n < conversations; n++) fillOne(store, shops, n, conversations);
  })();
  return store;
}

function fillOne(store: FilledStore, shops: ShopTable, n: number, count: number): void {
  const shop = n % 3 === 2 ? OTHER.shopId : SHOP.shopId;
  const jump = n === Math.floor(count / 2) ? 30 * HOUR_MS : 0;
  const now = new Date(NOW - (count - n) * 2 * HOUR_MS - jump).toISOString();
  const identity = { email: `c${n}@example.com`, phone: `+1202555${1000 + n}` };
  const contact = store.contacts.resolve(shop, 'email', identity, now);
  const conversation = conversationTable(store.db).create({
    ...{ shop, type: 'email', title: null, agentContact: 'support@acme.example', now },
    ...{ agentId: shops.agentId(shop), contactId: contact.id },
    ...{ userId: null, topicId: null, intentId: null },
  });
  const ticket = store.tickets.create({
    ...{ shop, number: shops.nextTicketNumber(shop), name: `t${n}`, excerpt: '', now },
    ...{ agentId: shops.agentId(shop), contactId: contact.id, conversationId: conversation.id },
    ...{ messageId: randomUUID(), spokenAt: now },
  });
  vary(store.db, ticket.id, contact.id, n);
  for (let turn = 0; turn <= n % 4; turn++) {
    store.messages.create({
      ...{ id: randomUUID(), shop, conversationId: conversation.id, ticketId: ticket.id },
      ...{ contactId: contact.id, agentId: null, content: `m${n}/${turn}`, text: '' },
      ...{ format: 'TEXT', role: 'customer', status: 'DELIVERED', remoteId: null, email: null },
      ...{ createdAt: now, now, unanswered: false, inReplyTo: null },
      ...{ sender: identity.email, agentContact: 'support@acme.example' },
    });
  }
}

function vary(db: Db, ticketId: string, contactId: string, n: number): void {
  const pick = <T>(values: readonly T[]) => values[Math.floor(n / 3) % values.length];
  db.prepare(
    `UPDATE tickets SET agent_id = ?, assignee_id = ?, label_id = ?, priority = ? WHERE id = ?`,
  ).run(pick(AGENTS), pick(TEAMMATES), pick(LABELS), n % 5, ticketId);
  const parent = db.prepare<[], string>(`SELECT id FROM contacts ORDER BY seq LIMIT 1`).pluck();
  db.prepare(
    `UPDATE contacts SET is_archived = ?, parent_contact_id = ?, remote_platform = ? WHERE id = ?`,
  ).run(n % 2, n % 5 === 4 ? parent.get() : null, pick(PLATFORMS), contactId);
}
