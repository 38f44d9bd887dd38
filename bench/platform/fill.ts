import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { conversationTable } from '../../src/local-platform/store/conversation-table.ts';
import { Cursors } from '../../src/local-platform/store/cursors.ts';
import { type Db, openDatabase } from '../../src/local-platform/store/database.ts';
import { messageTable } from '../../src/local-platform/store/message-table.ts';
import { shopTable } from '../../src/local-platform/store/store.ts';
import { ticketTable } from '../../src/local-platform/store/ticket-table.ts';

export interface FilledShop {
  readonly shopId: string;
  readonly apiKey: string;
  readonly name: string;
}

export interface Amounts {
  readonly conversations: number;
  readonly contacts: number;
  readonly messagesEach: number;
}

/** The values of a stored conversation that requests can use. */
export interface Sample {
  readonly conversationId: string;
  readonly ticketId: string;
  readonly email: string;
  readonly phone: string;
  readonly contactId: string;
  readonly customerMessageId: string;
  readonly replyMessageId: string;
}

const SAMPLES = 2000;
const PER_TRANSACTION = 10_000;
const DAY_MS = 86_400_000;
const SENTENCE = 'I ordered two pairs last week and only one of them has arrived so far. ';
const TEXT = SENTENCE.repeat(3);

/**
 * Fills a database with shops of the same kind through the platform's own tables: conversations
 * with a ticket and some messages each, spread over the last year. Secondary indexes are created at
 * the end, which is many times faster than maintaining them.
 * @returns samples of each shop, and how the platform will write its cursors
 */
export async function fill(
  dir: string,
  shops: readonly (FilledShop & Amounts)[],
): Promise<{ samples: Map<string, Sample[]>; cursors: Cursors }> {
  await mkdir(dir, { recursive: true });
  const db = openDatabase(join(dir, 'platform.sqlite'));
  // Durability is not needed: after a crash the database is discarded.
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -400000');
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL
         AND tbl_name IN ('messages', 'tickets', 'contacts', 'conversations')`,
    )
    .all();
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
  const cursors = new Cursors(shopTable(db).secret('cursors'));
  const samples = new Map(shops.map((shop) => [shop.shopId, fillShop(db, cursors, shop)]));
  for (const { sql } of indexes) db.exec(sql);
  vary(db);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return { samples, cursors };
}

function fillShop(db: Db, cursors: Cursors, shop: FilledShop & Amounts): Sample[] {
  const { shopId, conversations, contacts } = shop;
  shopTable(db).add(shopId);
  const people = inTransactions(db, contacts, personMaker(db, shopId));
  const every = Math.max(1, Math.floor(conversations / SAMPLES));
  const converse = conversationMaker(db, cursors, shop, people);
  return inTransactions(db, conversations, converse).filter((_sample, n) => n % every === 0);
}

/** The results of `make` for each number below `count`. */
function inTransactions<T>(db: Db, count: number, make: (n: number) => T): T[] {
  const made: T[] = [];
  const some = db.transaction((from: number) => {
    for (let n = from; n < Math.min(count, from + PER_TRANSACTION); n += 1) made.push(make(n));
  });
  for (let from = 0; from < count; from += PER_TRANSACTION) some(from);
  return made;
}

interface Person {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
}

function personMaker(db: Db, shopId: string): (n: number) => Person {
  const insert = db.prepare(
    `INSERT INTO contacts (id, shop, name, email, phone, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  return (n) => {
    const person = { id: randomUUID(), email: `person-${n}@example.com`, phone: phoneOf(n) };
    const at = timeOf(n, n + 1);
    insert.run(person.id, shopId, `Person ${n}`, person.email, person.phone, at, at);
    return person;
  };
}

const phoneOf = (n: number) => `+1202${String(2_000_000 + n)}`;

function conversationMaker(
  db: Db,
  cursors: Cursors,
  { shopId, conversations: count, messagesEach }: FilledShop & Amounts,
  people: readonly Person[],
): (n: number) => Sample {
  const conversations = conversationTable(db);
  const tickets = ticketTable(db, cursors);
  const messages = messageTable(db, cursors);
  const shops = shopTable(db);
  const agentId = shops.agentId(shopId);
  return (n) => {
    const person = people[n % people.length];
    if (person === undefined) throw new Error('a shop without people');
    const now = timeOf(n, count);
    const conversation = conversations.create({
      ...{ shop: shopId, type: 'email', title: `Order ${n}`, agentContact: 'support@acme.example' },
      ...{ agentId, contactId: person.id, userId: null, topicId: null, intentId: null, now },
    });
    conversations.addAgentContact(shopId, 'support@acme.example');
    conversations.addParticipants(conversation.id, [person.email]);
    const ids = Array.from({ length: messagesEach }, () => randomUUID());
    const ticket = tickets.create({
      ...{ shop: shopId, number: shops.nextTicketNumber(shopId), name: `Order ${n}` },
      ...{ excerpt: SENTENCE, agentId, contactId: person.id, conversationId: conversation.id },
      ...{ messageId: ids[0] ?? '', spokenAt: now, now },
    });
    for (const [turn, id] of ids.entries()) {
      const isReply = turn % 2 === 1;
      const content = `${TEXT}(${n}/${turn})`;
      messages.create({
        ...{ id, shop: shopId, conversationId: conversation.id, ticketId: ticket.id },
        ...{ contactId: person.id, agentId: isReply ? agentId : null, content, text: content },
        ...{ format: 'TEXT', role: isReply ? 'agent' : 'customer', status: 'DELIVERED' },
        ...{ remoteId: `<${id}@example.com>`, email: null, createdAt: now, now },
        ...{ unanswered: false, inReplyTo: isReply ? (ids[turn - 1] ?? null) : null },
        sender: isReply ? null : person.email,
        agentContact: isReply ? null : 'support@acme.example',
      });
    }
    return {
      conversationId: conversation.id,
      ticketId: ticket.id,
      email: person.email,
      phone: person.phone,
      contactId: person.id,
      customerMessageId: `<${ids[0] ?? ''}@example.com>`,
      replyMessageId: `<${ids[1] ?? ids[0] ?? ''}@example.com>`,
    };
  };
}

/** Evenly spread over the last year; the last one is now. */
function timeOf(n: number, count: number): string {
  return new Date(Date.now() - ((count - 1 - n) / count) * 365 * DAY_MS).toISOString();
}

/** Sets columns that no API operation sets, so that filters on them have different values. */
function vary(db: Db): void {
  const values = (prefix: string, count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, n) => uuidOf(prefix, n)));
  db.transaction(() => {
    db.prepare(
      `UPDATE tickets SET priority = number % 5,
         agent_id = iif(number % 3 = 0, ?, agent_id),
         assignee_id = json_extract(?, '$[' || (number % 16) || ']'),
         label_id = json_extract(?, '$[' || (number % 11) || ']')`,
    ).run(uuidOf('a', 0), values('b', 12), values('c', 8));
    db.exec(
      `UPDATE contacts SET is_archived = (seq % 10 = 0),
         remote_platform = iif(seq % 4 = 0, 'shopware', NULL)`,
    );
  })();
}

/** Ids of records that do not exist: agents (a), teammates (b), labels (c). */
export const uuidOf = (prefix: string, n: number) =>
  `${prefix.repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`;
