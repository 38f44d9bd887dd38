import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ContactTable } from './contact-table.ts';
import { ConversationTable } from './conversation-table.ts';
import { type Db, openDatabase } from './database.ts';
import { DepartureTable } from './departure-table.ts';
import { EventTable } from './event-table.ts';
import { GroupCommit } from './group-commit.ts';
import { MediaTable } from './media-table.ts';
import { MessageTable } from './message-table.ts';
import { ShopTable } from './shop-table.ts';
import { TicketTable } from './ticket-table.ts';

/** The tables of the platform in one SQLite file. Reads are direct; writes go through `write`. */
export class Store {
  readonly shops: ShopTable;
  readonly contacts: ContactTable;
  readonly conversations: ConversationTable;
  readonly tickets: TicketTable;
  readonly messages: MessageTable;
  readonly media: MediaTable;
  readonly events: EventTable;
  readonly departures: DepartureTable;
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
    this.departures = new DepartureTable(this.#db);
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
