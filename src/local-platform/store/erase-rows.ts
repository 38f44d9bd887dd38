import type { Db } from './database.ts';
import type { EventRow } from './event-table.ts';
import type { LeftAddressRow, ReplyMailRow } from './left-address-table.ts';
import { type ContactRow, type MessageRow, visitorIn } from './rows.ts';
import { excerptOf } from '../plain-text.ts';

/** The person to erase, as predicates over stored values. */
export interface ErasedPerson {
  /** Whether this address, number or identity, in any notation, is theirs. */
  readonly is: (identity: string) => boolean;
  /** Whether a text names them. */
  readonly isNamedIn: (text: string) => boolean;
  /** Erase their data of this shop only. */
  readonly shopId?: string;
  /** Ids of messages that are known to be theirs. */
  readonly messageIds: ReadonlySet<string>;
  /** Their visitor ids in web chat, which are part of the `remote_id` of their messages. */
  readonly visitorIds: ReadonlySet<string>;
}

/** A message of someone else that names them. */
interface MessageMention {
  readonly id: string;
  readonly shop: string;
  readonly where: readonly ('header' | 'body')[];
}

export interface PlatformTraces {
  readonly contacts: readonly Pick<ContactRow, 'id' | 'shop'>[];
  /** Their messages and the replies to them. */
  readonly messages: readonly Pick<MessageRow, 'id' | 'shop' | 'conversation_id'>[];
  readonly conversations: readonly string[];
  readonly events: readonly string[];
  /** The ids of addresses that were left in the chat: theirs, or by them. */
  readonly leftAddresses: readonly string[];
  readonly mentions: readonly MessageMention[];
}

const ROWS_AT_ONCE = 500;

/** Searches the platform's tables for a person. Changes nothing. */
export function findTraces(db: Db, person: ErasedPerson): PlatformTraces {
  const contacts = new Map<string, Pick<ContactRow, 'id' | 'shop'>>();
  const anonymous = new Map<string, Pick<ContactRow, 'id' | 'shop'>>();
  for (const row of pages<ContactRow>(db, 'contacts')) {
    if (row.email === null && row.phone === null) anonymous.set(row.id, row);
    if (!isOfShop(row, person)) continue;
    const names = [row.email, row.phone, row.remote_id, row.name];
    if (names.some((name) => name !== null && person.is(name))) contacts.set(row.id, row);
  }
  const messages = new Map<string, Pick<MessageRow, 'id' | 'shop' | 'conversation_id'>>();
  // Only the messages identify an anonymous chat visitor.
  for (const row of pages<MessageRow>(db, 'messages')) {
    if (row.role !== 'customer' || !isOfShop(row, person) || !isKnown(row, person)) continue;
    const contact = row.contact_id === null ? undefined : anonymous.get(row.contact_id);
    if (contact !== undefined) contacts.set(contact.id, contact);
    messages.set(row.id, row);
  }
  const leftAddresses = findLeftAddresses(db, person);
  const mails = mailsOfReplies(db);
  const authors = new Set<string>();
  const mentions: MessageMention[] = [];
  for (const row of pages<MessageRow>(db, 'messages')) {
    if (!isOfShop(row, person)) continue;
    const isToContact = row.contact_id !== null && contacts.has(row.contact_id);
    const isTheirs =
      row.role === 'customer'
        ? isToContact || isFrom(row, person)
        : // A reply that was sent by another channel answers no message of its conversation.
          row.in_reply_to === null
          ? isToContact
          : messages.has(row.in_reply_to);
    if (row.role === 'customer' && row.contact_id !== null) authors.add(row.contact_id);
    const mail = mails.get(row.id);
    // A reply in the chat that was also mailed. The mail has been stored after it.
    const isMailTheirs =
      mail !== undefined && (leftAddresses.has(mail.address_id) || messages.has(mail.message_id));
    if (isTheirs || isMailTheirs) messages.set(row.id, row);
    if (messages.has(row.id)) continue;
    const where = mentioned(row, person);
    if (where.length > 0) mentions.push({ id: row.id, shop: row.shop, where });
  }
  for (const contact of contactsOfThreads(db, leftAddresses)) {
    // Whoever has written or has a timeline is a customer of their own.
    if (!authors.has(contact.id)) contacts.set(contact.id, contact);
  }
  const all = [...messages.values()];
  return {
    contacts: [...contacts.values()],
    messages: all,
    conversations: [...new Set(all.map(({ conversation_id: id }) => id))],
    events: events(db, person, contacts),
    leftAddresses: [...leftAddresses],
    // Leaves out rows that were recognized as theirs after all.
    mentions: mentions.filter(({ id }) => !messages.has(id)),
  };
}

/** The addresses that are theirs, whoever left them, and those that they have left. */
function findLeftAddresses(db: Db, person: ErasedPerson): ReadonlySet<string> {
  const found = new Set<string>();
  type Left = Pick<LeftAddressRow, 'id' | 'shop' | 'email' | 'remote_prefix'>;
  const sql = 'SELECT id, shop, email, remote_prefix FROM left_addresses';
  for (const row of db.prepare<[], Left>(sql).all()) {
    if (!isOfShop(row, person)) continue;
    if (person.is(row.email) || isByVisitor(row.remote_prefix, person)) found.add(row.id);
  }
  return found;
}

/**
 * Contacts that mails to these addresses may have created, that have no timeline, and that no other
 * visitor's thread has.
 */
function contactsOfThreads(
  db: Db,
  leftAddresses: ReadonlySet<string>,
): Pick<ContactRow, 'id' | 'shop'>[] {
  const contact = db.prepare<[id: string, ids: string], Pick<ContactRow, 'id' | 'shop'>>(
    `SELECT c.id, c.shop FROM left_addresses a JOIN conversations v ON v.id = a.thread_id
     JOIN contacts c ON c.id = v.contact_id
     WHERE a.id = ? AND NOT EXISTS (SELECT 1 FROM events e WHERE e.contact_id = c.id)
       AND NOT EXISTS (
         SELECT 1 FROM left_addresses b JOIN conversations w ON w.id = b.thread_id
         WHERE w.contact_id = c.id AND b.id NOT IN (SELECT value FROM json_each(?)))`,
  );
  const ids = JSON.stringify([...leftAddresses]);
  return [...leftAddresses].flatMap((id) => contact.get(id, ids) ?? []);
}

/** By the id of the mail. */
function mailsOfReplies(db: Db): ReadonlyMap<string, ReplyMailRow> {
  const sql = 'SELECT * FROM reply_mails WHERE mail_id IS NOT NULL';
  return new Map(
    db
      .prepare<[], ReplyMailRow>(sql)
      .all()
      .map((row) => [row.mail_id ?? '', row]),
  );
}

const isOfShop = ({ shop }: { shop: string }, { shopId }: ErasedPerson): boolean =>
  shopId === undefined || shop === shopId.toLowerCase();

function isKnown({ id, remote_id: remoteId }: MessageRow, person: ErasedPerson): boolean {
  return person.messageIds.has(id) || isByVisitor(remoteId ?? '', person);
}

/** @param remoteId of a message in web chat, or its beginning with the visitor */
function isByVisitor(remoteId: string, person: ErasedPerson): boolean {
  const visitor = visitorIn(remoteId);
  return visitor !== undefined && (person.visitorIds.has(visitor) || person.is(visitor));
}

const isFrom = ({ sender }: MessageRow, person: ErasedPerson): boolean =>
  sender !== null && person.is(sender);

function mentioned({ content, email, remote_id: remoteId }: MessageRow, person: ErasedPerson) {
  const where: ('header' | 'body')[] = [];
  if ([email, remoteId].some((text) => text !== null && person.isNamedIn(text)))
    where.push('header');
  if (person.isNamedIn(content)) where.push('body');
  return where;
}

/** Events on their timeline, and events without a contact that name them. */
function events(db: Db, person: ErasedPerson, contacts: ReadonlyMap<string, unknown>): string[] {
  const found: string[] = [];
  for (const row of pages<EventRow>(db, 'events')) {
    if (!isOfShop(row, person)) continue;
    const texts = [row.name, row.description, row.metric];
    const isTheirs =
      row.contact_id === null
        ? texts.some((text) => text !== null && person.isNamedIn(text))
        : contacts.has(row.contact_id);
    if (isTheirs) found.push(row.id);
  }
  return found;
}

/** All rows of a table, read in pages so that no query takes long. */
function* pages<T extends { readonly seq: number }>(
  db: Db,
  table: 'contacts' | 'messages' | 'events',
): Generator<T> {
  const page = db.prepare<[number, number], T>(
    `SELECT * FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ? + 0`,
  );
  let rows: T[];
  for (
    let last = 0;
    (rows = page.all(last, ROWS_AT_ONCE)).length > 0;
    last = rows.at(-1)?.seq ?? 0
  ) {
    yield* rows;
  }
}

/** Replaces a ticket's name that came from an erased message. */
const ERASED_NAME = '[erased]';

/** Rows of these go with the message that they name. */
const PARTS_OF_MESSAGE = ['attachments', 'departures', 'fates', 'sent_parts', 'reply_mails'];

/** Deletes a person's rows, one transaction per conversation. */
export class PlatformErasure {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Media that only these messages use. */
  mediaOf({ messages }: Pick<PlatformTraces, 'messages'>): string[] {
    const theirs = new Set(messages.map(({ id }) => id));
    const sql = 'SELECT media_id AS id FROM attachments WHERE message_id = ?';
    return messages
      .flatMap(({ id }) => this.#rows<{ id: string }>(sql, id))
      .filter(({ id }) => this.#users(id).every((user) => theirs.has(user)))
      .map(({ id }) => id);
  }

  /** Whether any message uses this file. */
  isUsed(mediaId: string): boolean {
    return this.#users(mediaId).length > 0;
  }

  /** The files themselves must have been deleted before. */
  erase(traces: PlatformTraces, mediaIds: readonly string[], is: (text: string) => boolean): void {
    const contacts = new Set(traces.contacts.map(({ id }) => id));
    for (const conversation of traces.conversations) {
      this.#transact(() => {
        for (const message of traces.messages) {
          if (message.conversation_id === conversation) this.#deleteMessage(message.id);
        }
        this.#updateConversation(conversation, contacts);
      });
    }
    for (const id of traces.leftAddresses) this.#transact(() => this.#deleteLeftAddress(id));
    this.#transact(() => {
      for (const id of traces.events) this.#run('DELETE FROM events WHERE id = ?', id);
      for (const id of mediaIds) this.#run('DELETE FROM media WHERE id = ?', id);
      const emails = this.#rows<{ email: string }>('SELECT DISTINCT email FROM participants');
      for (const { email } of emails) {
        if (is(email)) this.#run('DELETE FROM participants WHERE email = ?', email);
      }
    });
    for (const id of contacts) this.#transact(() => this.#deleteContact(id));
  }

  #deleteMessage(id: string): void {
    for (const table of PARTS_OF_MESSAGE) {
      this.#run(`DELETE FROM ${table} WHERE message_id = ?`, id);
    }
    this.#run('DELETE FROM messages WHERE id = ?', id);
  }

  /** A stopped address stays stopped: of it there is a keyed hash only. */
  #deleteLeftAddress(id: string): void {
    this.#run('DELETE FROM reply_mails WHERE address_id = ?', id);
    this.#run(
      `DELETE FROM participants WHERE (conversation_id, email) IN
         (SELECT thread_id, lower(email) FROM left_addresses WHERE id = ?)`,
      id,
    );
    this.#run('DELETE FROM left_addresses WHERE id = ?', id);
  }

  /** Updates what others have left in a conversation, or deletes it when no message is left. */
  #updateConversation(id: string, contacts: ReadonlySet<string>): void {
    const [first] = this.#rows<Pick<MessageRow, 'id' | 'contact_id'>>(
      `SELECT id, contact_id FROM messages WHERE conversation_id = ? AND role = 'customer' ORDER BY seq LIMIT 1`,
      id,
    );
    if (first === undefined) {
      this.#deleteConversation(id);
      return;
    }
    const [last] = this.#rows<Pick<MessageRow, 'text'>>(
      `SELECT text FROM messages WHERE conversation_id = ? AND type = 'External' ORDER BY seq DESC LIMIT 1`,
      id,
    );
    const excerpt = last === undefined ? null : excerptOf(last.text);
    this.#run(
      'UPDATE tickets SET last_message_content = ?, summary = NULL WHERE conversation_id = ?',
      ...[excerpt, id],
    );
    const [conversation] = this.#rows<{ contact_id: string | null }>(
      'SELECT contact_id FROM conversations WHERE id = ?',
      id,
    );
    const owner = conversation?.contact_id ?? null;
    // Someone else started it, so its name is theirs.
    if (owner !== null && !contacts.has(owner)) return;
    const contact = first.contact_id;
    this.#run('UPDATE conversations SET contact_id = ?, title = NULL WHERE id = ?', contact, id);
    this.#run(
      'UPDATE tickets SET contact_id = ?, name = ?, message_id = ? WHERE conversation_id = ?',
      ...[contact, ERASED_NAME, first.id, id],
    );
  }

  /** With the replies that are left in it. */
  #deleteConversation(id: string): void {
    const left = this.#rows<{ id: string }>(
      'SELECT id FROM messages WHERE conversation_id = ?',
      id,
    );
    for (const message of left) this.#deleteMessage(message.id);
    this.#run(
      'DELETE FROM ticket_steps WHERE ticket_id IN (SELECT id FROM tickets WHERE conversation_id = ?)',
      id,
    );
    for (const table of ['tickets', 'participants']) {
      this.#run(`DELETE FROM ${table} WHERE conversation_id = ?`, id);
    }
    this.#run('DELETE FROM conversations WHERE id = ?', id);
  }

  #deleteContact(id: string): void {
    this.#run('UPDATE tickets SET contact_id = NULL WHERE contact_id = ?', id);
    this.#run('UPDATE conversations SET contact_id = NULL WHERE contact_id = ?', id);
    this.#run('UPDATE contacts SET parent_contact_id = NULL WHERE parent_contact_id = ?', id);
    this.#run('DELETE FROM contacts WHERE id = ?', id);
  }

  /** The messages that use this file. */
  #users(mediaId: string): string[] {
    const sql = 'SELECT message_id AS id FROM attachments WHERE media_id = ?';
    return this.#rows<{ id: string }>(sql, mediaId).map(({ id }) => id);
  }

  #rows<Row>(sql: string, ...values: string[]): Row[] {
    return this.#db.prepare<string[], Row>(sql).all(...values);
  }

  #run(sql: string, ...values: (string | null)[]): void {
    this.#db.prepare(sql).run(...values);
  }

  #transact(work: () => unknown): void {
    this.#db.transaction(work).immediate();
  }
}
