import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type PlatformPlan, sentText } from './erase.ts';
import { type Db, statements } from './store/database.ts';
import { fateTable } from './store/fate-table.ts';
import type { LeftAddressRow, ReplyMailRow } from './store/left-address-table.ts';
import { mediaTable } from './store/media.ts';
import {
  type ContactRow,
  type ConversationRow,
  type MediaRow,
  type MessageRow,
  type TicketRow,
  toContact,
  toConversation,
  toMessage,
  toTicket,
} from './store/rows.ts';

/** A list of records, or a file, with its name in the export. */
export type PlatformContent =
  | { readonly name: string; readonly records: Iterable<unknown> | AsyncIterable<unknown> }
  | { readonly name: string; readonly file: string; readonly original: string };

/**
 * What the platform stores about a person: the rows and files that their erasure removes, as the
 * API shows them. In a thread with other people, only the person's messages and the answers to
 * them.
 * @param dir the platform's folder
 */
export function* contentsOf(db: Db, dir: string, plan: PlatformPlan): Generator<PlatformContent> {
  const byLink = mediaTable(db).byLink;
  const files = new Map<string, MediaRow | undefined>(plan.media.map((id) => [id, byLink(id)]));
  const events = `id, contact_id, name, description, event_time, metric, created_at`;
  yield {
    name: 'contacts',
    records: [...rowsOf<ContactRow>(db, 'contacts', plan.contacts)].map(toContact),
  };
  yield { name: 'conversations', records: conversations(db, plan) };
  yield { name: 'messages', records: messages(db, plan, files) };
  yield { name: 'events', records: rowsOf(db, 'events', plan.events, events) };
  yield { name: 'left-addresses', records: leftAddresses(db, plan) };
  yield { name: 'texts', records: texts(join(dir, 'outbox', 'sms.log'), plan.texts) };
  // Collected while the messages were read.
  for (const [id, row] of files) {
    const original = row?.original_name ?? id;
    yield { name: `files/${id}`, file: join(dir, 'media', id), original };
  }
  for (const name of plan.emails) {
    yield { name: 'emails', file: join(dir, 'outbox', name), original: name };
  }
}

/** The rows with these ids that are still there, one in memory at a time. */
function* rowsOf<Row>(
  db: Db,
  table: string,
  ids: readonly string[],
  columns = '*',
): Generator<Row> {
  const byId = statements(db).row<[id: string], Row>(
    `SELECT ${columns} FROM ${table} WHERE id = ?`,
  );
  for (const id of ids) {
    const row = byId(id);
    if (row !== undefined) yield row;
  }
}

/** Each with its tickets. The names of a thread that someone else began are theirs. */
function* conversations(db: Db, plan: PlatformPlan): Generator<object> {
  const { rows, number } = statements(db);
  const ticketsOf = rows<[id: string], TicketRow>(
    `SELECT * FROM tickets WHERE conversation_id = ? ORDER BY seq`,
  );
  const stepsOf = rows<[ticketId: string], object>(
    `SELECT what, user_id, assignee_id, at FROM ticket_steps WHERE ticket_id = ? ORDER BY seq`,
  );
  const count = number<[id: string]>(`SELECT count(*) FROM messages WHERE conversation_id = ?`);
  for (const row of rowsOf<ConversationRow>(db, 'conversations', plan.conversations)) {
    const { id, contact_id: contact } = row;
    const isBegunByThem = contact === null || plan.contacts.includes(contact);
    const own = plan.messages.filter((message) => message.conversation_id === id).length;
    const isWhole = own === count(id);
    const { title, ...conversation } = toConversation(row);
    const tickets = ticketsOf(id).map((ticket) => {
      const { name, summary, last_message_content: excerpt, ...rest } = toTicket(ticket);
      return {
        ...rest,
        ...(isBegunByThem && { name }),
        ...(isWhole && { summary, last_message_content: excerpt }),
        steps: stepsOf(ticket.id),
      };
    });
    yield { ...conversation, ...(isBegunByThem && { title }), tickets };
  }
}

/** @param files gets the files of the messages */
function* messages(
  db: Db,
  plan: PlatformPlan,
  files: Map<string, MediaRow | undefined>,
): Generator<object> {
  const fates = fateTable(db);
  const attachmentsOf = mediaTable(db).ofMessage;
  const ids = plan.messages.map(({ id }) => id);
  for (const row of rowsOf<MessageRow>(db, 'messages', ids)) {
    const attachments = attachmentsOf(row.id);
    for (const file of attachments) files.set(file.id, file);
    const { sender, in_reply_to: inReplyTo, agent_contact: agentContact } = row;
    yield {
      ...toMessage(row),
      ...{ sender, in_reply_to: inReplyTo, agent_contact: agentContact },
      email: row.email === null ? undefined : (JSON.parse(row.email) as unknown),
      attachments: attachments.map(({ id: file, original_name: name, type, size }) => ({
        ...{ id: file, name, type, size },
      })),
      ...(row.role === 'agent' && { fate: fates.of(row), parts: fates.parts(row.id) }),
    };
  }
}

/** The addresses for replies by email, each with the replies that were or are to be mailed to it. */
function* leftAddresses(db: Db, plan: PlatformPlan): Generator<object> {
  const mailsOf = statements(db).rows<[addressId: string], ReplyMailRow>(
    `SELECT * FROM reply_mails WHERE address_id = ? ORDER BY sent_at`,
  );
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  for (const row of rowsOf<LeftAddressRow>(db, 'left_addresses', plan.leftAddresses)) {
    const { id, email, language } = row;
    yield {
      ...{ id, email, language },
      ...{ asked_at: time(row.asked_at), confirmed_at: time(row.confirmed_at) },
      ...{ replaced_at: time(row.replaced_at), stopped_at: time(row.stopped_at) },
      mails: mailsOf(id).map((mail) => ({
        ...{ message_id: mail.message_id, mail_id: mail.mail_id },
        mailed_at: time(mail.mailed_at),
      })),
    };
  }
}

async function* texts(path: string, lines: PlatformPlan['texts']): AsyncGenerator {
  for (const { at, length } of lines) {
    yield sentText(await text(createReadStream(path, { start: at, end: at + length - 1 })));
  }
}
