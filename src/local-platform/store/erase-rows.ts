import { excerptOf } from '../excerpt.ts';
import type { Db } from './database.ts';
import type { PlatformTraces } from './erase-finder.ts';
import type { MessageRow } from './rows.ts';

/** In place of a name that was made of an erased message. */
const NAMELESS = '[erased]';

/** Deletes a person's rows, a conversation at a time. */
export class PlatformErasure {
  readonly #db: Db;
  readonly #sql;

  constructor(db: Db) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** Media of these messages that no other message has. */
  mediaOf({ messages }: Pick<PlatformTraces, 'messages'>): string[] {
    const theirs = new Set(messages.map(({ id }) => id));
    return messages
      .flatMap(({ id }) => this.#sql.mediaOf.all(id))
      .filter(({ id }) => this.#sql.users.all(id).every((user) => theirs.has(user.message_id)))
      .map(({ id }) => id);
  }

  /** Whether a message has this file. */
  isUsed(mediaId: string): boolean {
    return this.#sql.users.get(mediaId) !== undefined;
  }

  /** The files themselves have to be gone before. */
  erase(traces: PlatformTraces, mediaIds: readonly string[], is: (text: string) => boolean): void {
    const contacts = new Set(traces.contacts.map(({ id }) => id));
    for (const conversation of traces.conversations) {
      this.#transact(() => {
        for (const message of traces.messages) {
          if (message.conversation_id === conversation) this.#message(message.id);
        }
        this.#rest(conversation, contacts);
      });
    }
    for (const id of traces.events) this.#transact(() => this.#sql.deleteEvent.run(id));
    this.#transact(() => {
      for (const id of mediaIds) this.#sql.deleteMedia.run(id);
      for (const { conversation_id: id, email } of this.#sql.participants.all()) {
        if (is(email)) this.#sql.deleteParticipant.run(id, email);
      }
    });
    for (const id of contacts) this.#transact(() => this.#contact(id));
  }

  #message(id: string): void {
    this.#sql.deleteAttachments.run(id);
    this.#sql.deleteDeparture.run(id);
    this.#sql.deleteMessage.run(id);
  }

  /** What remains of a conversation: that of others, or nothing. */
  #rest(conversation: string, contacts: ReadonlySet<string>): void {
    const first = this.#sql.first.get(conversation);
    if (first === undefined) {
      for (const { id } of this.#sql.messages.all(conversation)) this.#message(id);
      this.#sql.deleteTickets.run(conversation);
      this.#sql.deleteParticipants.run(conversation);
      this.#sql.deleteConversation.run(conversation);
      return;
    }
    const owner = this.#sql.owner.get(conversation)?.contact_id;
    const last = this.#sql.last.get(conversation);
    const excerpt = last === undefined ? null : excerptOf(last.text);
    this.#sql.spoken.run({ conversation, excerpt });
    // Somebody else began it: its name and summary are of his words.
    if (owner !== null && owner !== undefined && !contacts.has(owner)) return;
    const contact = first.contact_id;
    this.#sql.passOn.run({ conversation, contact });
    const summary = excerptOf(first.text);
    this.#sql.rename.run({ conversation, contact, name: NAMELESS, summary, message: first.id });
  }

  #contact(id: string): void {
    this.#sql.leaveTickets.run(id);
    this.#sql.leaveConversations.run(id);
    this.#sql.orphan.run(id);
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
    // No index has it: asked for the files of one person only.
    users: db.prepare<[string], { message_id: string }>(
      `SELECT message_id FROM attachments WHERE media_id = ?`,
    ),
    deleteAttachments: db.prepare(`DELETE FROM attachments WHERE message_id = ?`),
    deleteDeparture: db.prepare(`DELETE FROM departures WHERE message_id = ?`),
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
      `SELECT text FROM messages WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1`,
    ),
    messages: db.prepare<[string], { id: string }>(
      `SELECT id FROM messages WHERE conversation_id = ?`,
    ),
    owner: db.prepare<[string], { contact_id: string | null }>(
      `SELECT contact_id FROM conversations WHERE id = ?`,
    ),
    spoken: db.prepare(
      `UPDATE tickets SET last_message_content = @excerpt WHERE conversation_id = @conversation`,
    ),
    passOn: db.prepare(
      `UPDATE conversations SET contact_id = @contact, title = NULL WHERE id = @conversation`,
    ),
    rename: db.prepare(
      `UPDATE tickets SET contact_id = @contact, name = @name, summary = @summary,
         message_id = @message WHERE conversation_id = @conversation`,
    ),
    deleteTickets: db.prepare(`DELETE FROM tickets WHERE conversation_id = ?`),
    deleteParticipants: db.prepare(`DELETE FROM participants WHERE conversation_id = ?`),
    deleteConversation: db.prepare(`DELETE FROM conversations WHERE id = ?`),
    leaveTickets: db.prepare(`UPDATE tickets SET contact_id = NULL WHERE contact_id = ?`),
    leaveConversations: db.prepare(
      `UPDATE conversations SET contact_id = NULL WHERE contact_id = ?`,
    ),
    orphan: db.prepare(`UPDATE contacts SET parent_contact_id = NULL WHERE parent_contact_id = ?`),
    deleteContact: db.prepare(`DELETE FROM contacts WHERE id = ?`),
  };
}
