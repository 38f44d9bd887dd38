import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { contactTable } from './contact-table.ts';
import { conversationTable } from './conversation-table.ts';
import { Cursors } from './cursors.ts';
import { type Db, GroupCommit, openDatabase, statements } from './database.ts';
import { deskTable } from './desk-table.ts';
import { fateTable } from './fate-table.ts';
import { leftAddressTable } from './left-address-table.ts';
import { outgoingTable } from './outgoing-table.ts';
import { type EventRow, eventTable } from './event-table.ts';
import { type MediaFolder, mediaTable } from './media.ts';
import { messageTable } from './message-table.ts';
import { renameLimitReached } from './schema.ts';
import { ticketTable } from './ticket-table.ts';
import type { MessageRow } from './rows.ts';

/** The tables of the platform in one SQLite file. Reads are direct; writes go through `write`. */
export class Store {
  readonly shops;
  readonly contacts;
  readonly conversations;
  readonly tickets;
  readonly messages;
  readonly media;
  readonly events;
  readonly outgoing;
  readonly desk;
  readonly fates;
  readonly leftAddresses;
  readonly #db: Db;
  readonly #commit: GroupCommit;

  /** @throws {LocalPlatformUnusable} */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const db = openDatabase(join(folder, 'platform.sqlite'));
    this.#db = db;
    renameLimitReached(db);
    this.#commit = new GroupCommit(db);
    this.shops = shopTable(db);
    const cursors = new Cursors(this.shops.secret('cursors'));
    this.contacts = contactTable(db, cursors);
    this.conversations = conversationTable(db);
    this.tickets = ticketTable(db, cursors);
    this.messages = messageTable(db, cursors);
    this.media = mediaTable(db);
    this.events = eventTable(db);
    this.outgoing = outgoingTable(db);
    this.desk = deskTable(db);
    this.fates = fateTable(db);
    this.leftAddresses = leftAddressTable(db);
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

export type ShopTable = ReturnType<typeof shopTable>;

/** The shops' agent ids and ticket numbers, and the platform's secrets. */
export function shopTable(db: Db) {
  const { one, has, run } = statements(db);
  const add = run<[shop: string, agentId: string]>(
    `INSERT INTO shops (shop, agent_id) VALUES (?, ?) ON CONFLICT DO NOTHING`,
  );
  const agent = one<[shop: string], { agent_id: string }>(
    `SELECT agent_id FROM shops WHERE shop = ?`,
  );
  const nextTicket = one<[shop: string], { tickets: number }>(
    `UPDATE shops SET tickets = tickets + 1 WHERE shop = ? RETURNING tickets`,
  );
  const setOnlyPeople = run<[{ shop: string; isOnly: number }]>(
    `UPDATE shops SET only_people = @isOnly WHERE shop = @shop AND only_people <> @isOnly`,
  );
  const addSecret = run<[name: string, value: Buffer]>(
    `INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`,
  );
  const secret = one<[name: string], { value: Buffer }>(`SELECT value FROM secrets WHERE name = ?`);
  return {
    /** Adds a shop; a known shop keeps its agent id. */
    add: (shop: string) => add(shop, randomUUID()),
    /** The shop must have been added. */
    agentId: (shop: string): string => agent(shop).agent_id,
    nextTicketNumber: (shop: string): number => nextTicket(shop).tickets,
    /** Whether only people answered in the shop when it was last served. */
    isOnlyPeople: has<[shop: string]>(`SELECT 1 FROM shops WHERE shop = ? AND only_people = 1`),
    setOnlyPeople: (shop: string, isOnly: boolean) =>
      setOnlyPeople({ shop, isOnly: isOnly ? 1 : 0 }),
    /** 32 random bytes, generated at the first call and stored. */
    secret(name: string): Buffer {
      addSecret(name, randomBytes(32));
      return secret(name).value;
    },
  };
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

  /** Whether a reply of the shop has this message-id. */
  isReply(shopId: string, messageId: string): boolean {
    return this.#store.messages.reply(shopId.toLowerCase(), messageId) !== undefined;
  }

  attachments(messageId: string): StoredAttachment[] {
    return this.#store.media.ofMessage(messageId).map((row) => ({
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
