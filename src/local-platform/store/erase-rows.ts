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

type Row = Pick<
  MessageRow,
  | 'seq'
  | 'id'
  | 'shop'
  | 'conversation_id'
  | 'contact_id'
  | 'role'
  | 'remote_id'
  | 'sender'
  | 'in_reply_to'
  | 'content'
  | 'email'
>;

/** Searches the platform's tables for a person. Changes nothing. */
export function findTraces(db: Db, person: ErasedPerson): PlatformTraces {
  const contacts = new Map<string, Pick<ContactRow, 'id' | 'shop'>>();
  for (const row of pages<ContactRow>(db, 'contacts', '*')) {
    if (!isOfShop(row, person)) continue;
    const names = [row.email, row.phone, row.remote_id, row.name];
    if (names.some((name) => name !== null && person.is(name))) contacts.set(row.id, row);
  }
  const anonymous = anonymousContacts(db);
  const messages = new Map<string, Pick<MessageRow, 'id' | 'shop' | 'conversation_id'>>();
  // Only the messages identify an anonymous chat visitor.
  for (const row of pages<Row>(db, 'messages', COLUMNS)) {
    if (row.role !== 'customer' || !isOfShop(row, person) || !isKnown(row, person)) continue;
    const contact = row.contact_id === null ? undefined : anonymous.get(row.contact_id);
    if (contact !== undefined) contacts.set(contact.id, contact);
    messages.set(row.id, row);
  }
  const leftAddresses = findLeftAddresses(db, person);
  const mails = mailsOfReplies(db);
  const authors = new Set<string>();
  const mentions: MessageMention[] = [];
  for (const row of pages<Row>(db, 'messages', COLUMNS)) {
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

const COLUMNS =
  'seq, id, shop, conversation_id, contact_id, role, remote_id, sender, in_reply_to, content, email';

const isOfShop = ({ shop }: { shop: string }, { shopId }: ErasedPerson): boolean =>
  shopId === undefined || shop === shopId.toLowerCase();

function isKnown({ id, remote_id: remoteId }: Row, person: ErasedPerson): boolean {
  return person.messageIds.has(id) || isByVisitor(remoteId ?? '', person);
}

/** @param remoteId of a message in web chat, or its beginning with the visitor */
function isByVisitor(remoteId: string, person: ErasedPerson): boolean {
  const visitor = visitorIn(remoteId);
  return visitor !== undefined && (person.visitorIds.has(visitor) || person.is(visitor));
}

const isFrom = ({ sender }: Row, person: ErasedPerson): boolean =>
  sender !== null && person.is(sender);

function mentioned({ content, email, remote_id: remoteId }: Row, person: ErasedPerson) {
  const where: ('header' | 'body')[] = [];
  if ([email, remoteId].some((text) => text !== null && person.isNamedIn(text)))
    where.push('header');
  if (person.isNamedIn(content)) where.push('body');
  return where;
}

/** Contacts without an email and a phone. */
function anonymousContacts(db: Db): Map<string, Pick<ContactRow, 'id' | 'shop'>> {
  const rows = db
    .prepare<[], Pick<ContactRow, 'id' | 'shop'>>(
      `SELECT id, shop FROM contacts WHERE email IS NULL AND phone IS NULL`,
    )
    .all();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Events on their timeline, and events without a contact that name them. */
function events(db: Db, person: ErasedPerson, contacts: ReadonlyMap<string, unknown>): string[] {
  const found: string[] = [];
  for (const row of pages<EventRow>(db, 'events', '*')) {
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
  columns: string,
): Generator<T> {
  const page = db.prepare<[number, number], T>(
    `SELECT ${columns} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ? + 0`,
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

/** Deletes a person's rows, one transaction per conversation. */
export class PlatformErasure {
  readonly #db: Db;
  readonly #sql;

  constructor(db: Db) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** Media that only these messages use. */
  mediaOf({ messages }: Pick<PlatformTraces, 'messages'>): string[] {
    const theirs = new Set(messages.map(({ id }) => id));
    return messages
      .flatMap(({ id }) => this.#sql.mediaOf.all(id))
      .filter(({ id }) => this.#sql.users.all(id).every((user) => theirs.has(user.message_id)))
      .map(({ id }) => id);
  }

  /** Whether any message uses this file. */
  isUsed(mediaId: string): boolean {
    return this.#sql.users.get(mediaId) !== undefined;
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
    for (const id of traces.events) this.#transact(() => this.#sql.deleteEvent.run(id));
    this.#transact(() => {
      for (const id of mediaIds) this.#sql.deleteMedia.run(id);
      for (const { conversation_id: id, email } of this.#sql.participants.all()) {
        if (is(email)) this.#sql.deleteParticipant.run(id, email);
      }
    });
    for (const id of contacts) this.#transact(() => this.#deleteContact(id));
  }

  #deleteMessage(id: string): void {
    this.#sql.deleteAttachments.run(id);
    this.#sql.deleteOutgoing.run(id);
    this.#sql.deleteFate.run(id);
    this.#sql.deleteParts.run(id);
    this.#sql.deleteReplyMail.run(id);
    this.#sql.deleteMessage.run(id);
  }

  /** A stopped address stays stopped: of it there is a keyed hash only. */
  #deleteLeftAddress(id: string): void {
    this.#sql.deleteReplyMailsTo.run(id);
    const thread = this.#sql.threadOf.get(id)?.thread_id ?? '';
    const email = this.#sql.threadOf.get(id)?.email ?? '';
    this.#sql.deleteParticipant.run(thread, email.toLowerCase());
    this.#sql.deleteLeftAddress.run(id);
  }

  /** Updates what others have left in a conversation, or deletes it when no message is left. */
  #updateConversation(conversation: string, contacts: ReadonlySet<string>): void {
    const first = this.#sql.first.get(conversation);
    if (first === undefined) {
      for (const { id } of this.#sql.messages.all(conversation)) this.#deleteMessage(id);
      this.#sql.deleteSteps.run(conversation);
      this.#sql.deleteTickets.run(conversation);
      this.#sql.deleteParticipants.run(conversation);
      this.#sql.deleteConversation.run(conversation);
      return;
    }
    const owner = this.#sql.owner.get(conversation)?.contact_id;
    const last = this.#sql.last.get(conversation);
    const excerpt = last === undefined ? null : excerptOf(last.text);
    this.#sql.setLastMessage.run({ conversation, excerpt });
    // Someone else started it, so its name is theirs.
    if (owner !== null && owner !== undefined && !contacts.has(owner)) return;
    const contact = first.contact_id;
    this.#sql.setOwner.run({ conversation, contact });
    this.#sql.rename.run({ conversation, contact, name: ERASED_NAME, message: first.id });
  }

  #deleteContact(id: string): void {
    this.#sql.unlinkTickets.run(id);
    this.#sql.unlinkConversations.run(id);
    this.#sql.unlinkChildren.run(id);
    this.#sql.deleteContact.run(id);
  }

  #transact(work: () => unknown): void {
    this.#db.transaction(work).immediate();
  }
}

function prepare(db: Db) {
  return {
    mediaOf: db.prepare<[string], { id: string }>(
      `SELECT media_id AS id FROM attachments WHERE message_id = ?`,
    ),
    users: db.prepare<[string], { message_id: string }>(
      `SELECT message_id FROM attachments WHERE media_id = ?`,
    ),
    deleteAttachments: db.prepare(`DELETE FROM attachments WHERE message_id = ?`),
    deleteOutgoing: db.prepare(`DELETE FROM departures WHERE message_id = ?`),
    deleteFate: db.prepare(`DELETE FROM fates WHERE message_id = ?`),
    deleteParts: db.prepare(`DELETE FROM sent_parts WHERE message_id = ?`),
    deleteReplyMail: db.prepare(`DELETE FROM reply_mails WHERE message_id = ?`),
    deleteReplyMailsTo: db.prepare(`DELETE FROM reply_mails WHERE address_id = ?`),
    threadOf: db.prepare<[string], Pick<LeftAddressRow, 'thread_id' | 'email'>>(
      `SELECT thread_id, email FROM left_addresses WHERE id = ?`,
    ),
    deleteLeftAddress: db.prepare(`DELETE FROM left_addresses WHERE id = ?`),
    deleteMessage: db.prepare(`DELETE FROM messages WHERE id = ?`),
    deleteMedia: db.prepare(`DELETE FROM media WHERE id = ?`),
    deleteEvent: db.prepare(`DELETE FROM events WHERE id = ?`),
    participants: db.prepare<[], { conversation_id: string; email: string }>(
      `SELECT conversation_id, email FROM participants`,
    ),
    deleteParticipant: db.prepare(
      `DELETE FROM participants WHERE conversation_id = ? AND email = ?`,
    ),
    first: db.prepare<[string], Pick<MessageRow, 'id' | 'contact_id' | 'text'>>(
      `SELECT id, contact_id, text FROM messages
       WHERE conversation_id = ? AND role = 'customer' ORDER BY seq LIMIT 1`,
    ),
    last: db.prepare<[string], Pick<MessageRow, 'text'>>(
      `SELECT text FROM messages WHERE conversation_id = ? AND type = 'External'
       ORDER BY seq DESC LIMIT 1`,
    ),
    messages: db.prepare<[string], { id: string }>(
      `SELECT id FROM messages WHERE conversation_id = ?`,
    ),
    owner: db.prepare<[string], { contact_id: string | null }>(
      `SELECT contact_id FROM conversations WHERE id = ?`,
    ),
    setLastMessage: db.prepare(
      `UPDATE tickets SET last_message_content = @excerpt, summary = NULL
       WHERE conversation_id = @conversation`,
    ),
    setOwner: db.prepare(
      `UPDATE conversations SET contact_id = @contact, title = NULL WHERE id = @conversation`,
    ),
    rename: db.prepare(
      `UPDATE tickets SET contact_id = @contact, name = @name, message_id = @message
       WHERE conversation_id = @conversation`,
    ),
    deleteSteps: db.prepare(
      `DELETE FROM ticket_steps WHERE ticket_id IN
         (SELECT id FROM tickets WHERE conversation_id = ?)`,
    ),
    deleteTickets: db.prepare(`DELETE FROM tickets WHERE conversation_id = ?`),
    deleteParticipants: db.prepare(`DELETE FROM participants WHERE conversation_id = ?`),
    deleteConversation: db.prepare(`DELETE FROM conversations WHERE id = ?`),
    unlinkTickets: db.prepare(`UPDATE tickets SET contact_id = NULL WHERE contact_id = ?`),
    unlinkConversations: db.prepare(
      `UPDATE conversations SET contact_id = NULL WHERE contact_id = ?`,
    ),
    unlinkChildren: db.prepare(
      `UPDATE contacts SET parent_contact_id = NULL WHERE parent_contact_id = ?`,
    ),
    deleteContact: db.prepare(`DELETE FROM contacts WHERE id = ?`),
  };
}
