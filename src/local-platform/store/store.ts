import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { ContactTable } from './contact-table.ts';
import { ConversationTable } from './conversation-table.ts';
import { type Db, GroupCommit, openDatabase, required } from './database.ts';
import { OutgoingTable } from './outgoing-table.ts';
import { type EventRow, EventTable } from './event-table.ts';
import { type MediaFolder, MediaTable } from './media.ts';
import { MessageTable } from './message-table.ts';
import { TicketTable } from './ticket-table.ts';
import type { MessageRow } from './rows.ts';

/** The tables of the platform in one SQLite file. Reads are direct; writes go through `write`. */
export class Store {
  readonly shops: ShopTable;
  readonly contacts: ContactTable;
  readonly conversations: ConversationTable;
  readonly tickets: TicketTable;
  readonly messages: MessageTable;
  readonly media: MediaTable;
  readonly events: EventTable;
  readonly outgoing: OutgoingTable;
  readonly #db: Db;
  readonly #commit: GroupCommit;

  /** @throws {LocalPlatformUnusable} */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#db = openDatabase(join(folder, 'platform.sqlite'));
    this.#commit = new GroupCommit(this.#db);
    this.shops = new ShopTable(this.#db);
    this.contacts = new ContactTable(this.#db);
    this.conversations = new ConversationTable(this.#db);
    this.tickets = new TicketTable(this.#db);
    this.messages = new MessageTable(this.#db);
    this.media = new MediaTable(this.#db);
    this.events = new EventTable(this.#db);
    this.outgoing = new OutgoingTable(this.#db);
  }

  /** Runs a synchronous write in a transaction; resolves once it is on disk. */
  write<T>(work: () => T): Promise<T> {
    return this.#commit.run(work);
  }

  close(): void {
    this.#commit.flush();
    this.#db.close();
  }
}

/** The shops' agent ids and ticket numbers, and the platform's secrets. */
export class ShopTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      add: db.prepare(`INSERT INTO shops (shop, agent_id) VALUES (?, ?) ON CONFLICT DO NOTHING`),
      agent: db.prepare<[string], { agent_id: string }>(
        `SELECT agent_id FROM shops WHERE shop = ?`,
      ),
      nextTicket: db.prepare<[string], { tickets: number }>(
        `UPDATE shops SET tickets = tickets + 1 WHERE shop = ? RETURNING tickets`,
      ),
      addSecret: db.prepare(
        `INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`,
      ),
      secret: db.prepare<[string], { value: Buffer }>(`SELECT value FROM secrets WHERE name = ?`),
    };
  }

  /** Adds a shop; a known shop keeps its agent id. */
  add(shop: string): void {
    this.#sql.add.run(shop, randomUUID());
  }

  agentId(shop: string): string {
    const row = this.#sql.agent.get(shop);
    if (row === undefined) throw new Error('the shop was never added');
    return row.agent_id;
  }

  nextTicketNumber(shop: string): number {
    const row = this.#sql.nextTicket.get(shop);
    if (row === undefined) throw new Error('the shop was never added');
    return row.tickets;
  }

  /** 32 random bytes, generated at the first call and stored. */
  secret(name: string): Buffer {
    this.#sql.addSecret.run(name, randomBytes(32));
    return required(this.#sql.secret.get(name), 'the secret').value;
  }
}

interface StoredAttachment {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly permission: string;
  /** The path of the file. */
  readonly path: string;
}

/**
 * Stored data that the API does not return: attachments, email headers, events, and all messages at
 * once. For tests, benchmarks and the console.
 */
export class Inspection {
  readonly #store: Store;
  readonly #media: MediaFolder;

  constructor(store: Store, media: MediaFolder) {
    this.#store = store;
    this.#media = media;
  }

  /** Every message of a shop, oldest first. */
  messages(shopId: string): readonly MessageRow[] {
    return this.#store.messages.all(shopId.toLowerCase());
  }

  attachments(messageId: string): StoredAttachment[] {
    return this.#store.messages.attachments(messageId).map((row) => ({
      id: row.id,
      name: row.original_name,
      type: row.type,
      size: row.size,
      permission: row.permission,
      path: this.#media.path(row.id),
    }));
  }

  /** Timeline entries and metrics of a shop, oldest first. */
  events(shopId: string): readonly EventRow[] {
    return this.#store.events.byShop(shopId.toLowerCase());
  }
}
