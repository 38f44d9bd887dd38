import { type Db, statements } from './database.ts';
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
  readonly shopId?: string | undefined;
  /** Ids of messages that are known to be theirs. */
  readonly messageIds: ReadonlySet<string>;
  /** Their visitor ids in web chat, which are part of the `remote_id` of their messages. */
  readonly visitorIds: ReadonlySet<string>;
}

export interface PlatformTraces {
  readonly contacts: readonly string[];
  /** Their messages and the replies to them. */
  readonly messages: readonly Pick<MessageRow, 'id' | 'conversation_id'>[];
  readonly conversations: readonly string[];
  readonly events: readonly string[];
  /** The ids of addresses that were left in the chat: theirs, or by them. */
  readonly leftAddresses: readonly string[];
  /** Messages of others that name them. */
  readonly mentions: readonly {
    readonly id: string;
    readonly where: readonly ('header' | 'body')[];
  }[];
}

const ROWS_AT_ONCE = 500;

/** Searches the platform's tables for a person. Changes nothing. */
export function findTraces(db: Db, person: ErasedPerson): PlatformTraces {
  const contacts = new Set<string>();
  const anonymous = new Set<string>();
  for (const row of pages<ContactRow>(db, 'contacts', person)) {
    if (row.email === null && row.phone === null) anonymous.add(row.id);
    const names = [row.email, row.phone, row.remote_id, row.name];
    if (names.some((name) => name !== null && person.is(name))) contacts.add(row.id);
  }
  const messages = new Map<string, PlatformTraces['messages'][number]>();
  // Only the messages identify an anonymous chat visitor.
  for (const row of pages<MessageRow>(db, 'messages', person)) {
    const isKnown = person.messageIds.has(row.id) || isByVisitor(row.remote_id ?? '', person);
    if (row.role !== 'customer' || !isKnown) continue;
    if (row.contact_id !== null && anonymous.has(row.contact_id)) contacts.add(row.contact_id);
    messages.set(row.id, row);
  }
  const leftAddresses = findLeftAddresses(db, person);
  const mails = mailsOfReplies(db);
  const authors = new Set<string>();
  const mentions: PlatformTraces['mentions'][number][] = [];
  for (const row of pages<MessageRow>(db, 'messages', person)) {
    const isToContact = row.contact_id !== null && contacts.has(row.contact_id);
    const isTheirs =
      row.role === 'customer'
        ? isToContact || (row.sender !== null && person.is(row.sender))
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
    if (where.length > 0) mentions.push({ id: row.id, where });
  }
  // Whoever has written or has a timeline is a customer of their own.
  for (const id of contactsOfThreads(db, leftAddresses)) if (!authors.has(id)) contacts.add(id);
  const all = [...messages.values()];
  return {
    contacts: [...contacts],
    messages: all,
    conversations: [...new Set(all.map(({ conversation_id: id }) => id))],
    events: events(db, person, contacts),
    leftAddresses: [...leftAddresses],
    mentions,
  };
}

/** The addresses that are theirs, whoever left them, and those that they have left. */
function findLeftAddresses(db: Db, person: ErasedPerson): ReadonlySet<string> {
  const rows = db.prepare<[], LeftAddressRow>('SELECT * FROM left_addresses').all();
  const theirs = rows.filter(
    (row) =>
      isOfShop(row, person) && (person.is(row.email) || isByVisitor(row.remote_prefix, person)),
  );
  return new Set(theirs.map(({ id }) => id));
}

/**
 * Contacts that mails to these addresses may have created, that have no timeline, and that no other
 * visitor's thread has.
 */
function contactsOfThreads(db: Db, leftAddresses: ReadonlySet<string>): string[] {
  const contacts = statements(db).column<[ids: string], string>(
    `WITH these AS (SELECT value FROM json_each(?))
     SELECT DISTINCT c.id FROM left_addresses a JOIN conversations v ON v.id = a.thread_id
     JOIN contacts c ON c.id = v.contact_id
     WHERE a.id IN these AND NOT EXISTS (SELECT 1 FROM events e WHERE e.contact_id = c.id)
       AND NOT EXISTS (
         SELECT 1 FROM left_addresses b JOIN conversations w ON w.id = b.thread_id
         WHERE w.contact_id = c.id AND b.id NOT IN these)`,
  );
  return contacts(JSON.stringify([...leftAddresses]));
}

/** By the id of the mail. */
function mailsOfReplies(db: Db): ReadonlyMap<string | null, ReplyMailRow> {
  const mails = db.prepare<[], ReplyMailRow>('SELECT * FROM reply_mails WHERE mail_id IS NOT NULL');
  return new Map(mails.all().map((row) => [row.mail_id, row]));
}

const isOfShop = ({ shop }: { shop: string }, { shopId }: ErasedPerson): boolean =>
  shopId === undefined || shop === shopId.toLowerCase();

/** @param remoteId of a message in web chat, or its beginning with the visitor */
function isByVisitor(remoteId: string, person: ErasedPerson): boolean {
  const visitor = visitorIn(remoteId);
  return visitor !== undefined && (person.visitorIds.has(visitor) || person.is(visitor));
}

function mentioned({ content, email, remote_id: remoteId }: MessageRow, person: ErasedPerson) {
  const where: ('header' | 'body')[] = [];
  if ([email, remoteId].some((text) => text !== null && person.isNamedIn(text)))
    where.push('header');
  if (person.isNamedIn(content)) where.push('body');
  return where;
}

/** Events on their timeline, and events without a contact that name them. */
function events(db: Db, person: ErasedPerson, contacts: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const row of pages<EventRow>(db, 'events', person)) {
    const texts = [row.name, row.description, row.metric];
    const isTheirs =
      row.contact_id === null
        ? texts.some((text) => text !== null && person.isNamedIn(text))
        : contacts.has(row.contact_id);
    if (isTheirs) found.push(row.id);
  }
  return found;
}

/** The rows of a table that are searched, read in pages so that no query takes long. */
function* pages<T extends { readonly seq: number; readonly shop: string }>(
  db: Db,
  table: 'contacts' | 'messages' | 'events',
  person: ErasedPerson,
): Generator<T> {
  const page = db.prepare<[number, number], T>(
    `SELECT * FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ? + 0`,
  );
  let last: number | undefined = 0;
  while (last !== undefined) {
    const rows = page.all(last, ROWS_AT_ONCE);
    yield* rows.filter((row) => isOfShop(row, person));
    last = rows.at(-1)?.seq;
  }
}

/** Replaces a ticket's name that came from an erased message. */
const ERASED_NAME = '[erased]';

/** What goes with the rows of a table: the rows of other tables that name one of them, and in which column. */
const PARTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  conversations: {
    messages: 'conversation_id',
    tickets: 'conversation_id',
    participants: 'conversation_id',
  },
  tickets: { ticket_steps: 'ticket_id' },
  messages: {
    attachments: 'message_id',
    departures: 'message_id',
    fates: 'message_id',
    sent_parts: 'message_id',
    reply_mails: 'message_id',
  },
  left_addresses: { reply_mails: 'address_id' },
};

/** Media that only these messages use. */
export function mediaOf(db: Db, { messages }: Pick<PlatformTraces, 'messages'>): string[] {
  const media = statements(db).column<[ids: string], string>(
    `WITH these AS (SELECT value FROM json_each(?))
     SELECT DISTINCT media_id FROM attachments a WHERE message_id IN these AND NOT EXISTS (
       SELECT 1 FROM attachments b WHERE b.media_id = a.media_id AND b.message_id NOT IN these)`,
  );
  return media(JSON.stringify(messages.map(({ id }) => id)));
}

/** Deletes a person's rows, one transaction per conversation. */
export class PlatformErasure {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The files themselves must have been deleted before. */
  erase(traces: PlatformTraces, mediaIds: readonly string[], is: (text: string) => boolean): void {
    const contacts = new Set(traces.contacts);
    const participants = statements(this.#db).column<[], string>(
      'SELECT DISTINCT email FROM participants',
    );
    for (const conversation of traces.conversations) {
      this.#transact(() => {
        for (const message of traces.messages) {
          if (message.conversation_id === conversation) this.#delete('messages', message.id);
        }
        this.#updateConversation(conversation, contacts);
      });
    }
    for (const id of traces.leftAddresses) this.#transact(() => this.#deleteLeftAddress(id));
    this.#transact(() => {
      for (const id of traces.events) this.#delete('events', id);
      for (const id of mediaIds) this.#delete('media', id);
      for (const email of participants().filter(is)) {
        this.#run('DELETE FROM participants WHERE email = ?', email);
      }
    });
    for (const id of contacts) this.#transact(() => this.#deleteContact(id));
  }

  /** Deletes a row, or those that a condition names, with what goes with them. */
  #delete(table: string, id: string, where = 'id = ?'): void {
    for (const [part, column] of Object.entries(PARTS[table] ?? {})) {
      this.#delete(part, id, `${column} IN (SELECT id FROM ${table} WHERE ${where})`);
    }
    this.#run(`DELETE FROM ${table} WHERE ${where}`, id);
  }

  /** A stopped address stays stopped: of it there is a keyed hash only. */
  #deleteLeftAddress(id: string): void {
    this.#run(
      `DELETE FROM participants WHERE (conversation_id, email) IN
         (SELECT thread_id, lower(email) FROM left_addresses WHERE id = ?)`,
      id,
    );
    this.#delete('left_addresses', id);
  }

  /** Updates what others have left in a conversation, or deletes it when only replies are left. */
  #updateConversation(id: string, contacts: ReadonlySet<string>): void {
    const { row, value } = statements(this.#db);
    const first = row<[id: string], Pick<MessageRow, 'id' | 'contact_id'>>(
      `SELECT id, contact_id FROM messages WHERE conversation_id = ? AND role = 'customer' ORDER BY seq LIMIT 1`,
    )(id);
    if (first === undefined) {
      this.#delete('conversations', id);
      return;
    }
    const last = value<[id: string], string>(
      `SELECT text FROM messages WHERE conversation_id = ? AND type = 'External' ORDER BY seq DESC LIMIT 1`,
    )(id);
    this.#run(
      'UPDATE tickets SET last_message_content = ?, summary = NULL WHERE conversation_id = ?',
      ...[last === undefined ? null : excerptOf(last), id],
    );
    const owner = value<[id: string], string>('SELECT contact_id FROM conversations WHERE id = ?')(
      id,
    );
    // Someone else started it, so its name is theirs.
    if (owner !== undefined && !contacts.has(owner)) return;
    const contact = first.contact_id;
    this.#run('UPDATE conversations SET contact_id = ?, title = NULL WHERE id = ?', contact, id);
    this.#run(
      'UPDATE tickets SET contact_id = ?, name = ?, message_id = ? WHERE conversation_id = ?',
      ...[contact, ERASED_NAME, first.id, id],
    );
  }

  #deleteContact(id: string): void {
    for (const table of ['tickets', 'conversations']) {
      this.#run(`UPDATE ${table} SET contact_id = NULL WHERE contact_id = ?`, id);
    }
    this.#run('UPDATE contacts SET parent_contact_id = NULL WHERE parent_contact_id = ?', id);
    this.#delete('contacts', id);
  }

  #run(sql: string, ...values: (string | null)[]): void {
    this.#db.prepare(sql).run(...values);
  }

  #transact(work: () => unknown): void {
    this.#db.transaction(work).immediate();
  }
}
