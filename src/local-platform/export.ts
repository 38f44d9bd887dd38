import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type PlatformPlan, sentText } from './erase.ts';
import { type Db, statements } from './store/database.ts';
import { fateTable } from './store/fate-table.ts';
import type { EventRow } from './store/event-table.ts';
import type { LeftAddressRow, ReplyMailRow } from './store/left-address-table.ts';
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
  const sql = queries(db);
  const contacts = new Set(plan.contacts);
  const files = new Map<string, MediaRow | undefined>(plan.media.map((id) => [id, sql.file(id)]));
  yield {
    name: 'contacts',
    records: plan.contacts.flatMap((id) => sql.contact(id) ?? []).map(toContact),
  };
  yield { name: 'conversations', records: conversations(sql, plan, contacts) };
  yield { name: 'messages', records: messages(db, sql, plan, files) };
  yield { name: 'events', records: plan.events.flatMap((id) => sql.event(id) ?? []) };
  yield { name: 'left-addresses', records: leftAddresses(sql, plan) };
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

/** Each with its tickets. The names of a thread that someone else began are theirs. */
function* conversations(
  sql: ReturnType<typeof queries>,
  plan: PlatformPlan,
  contacts: ReadonlySet<string>,
): Generator<object> {
  for (const id of plan.conversations) {
    const row = sql.conversation(id);
    if (row === undefined) continue;
    const isBegunByThem = row.contact_id === null || contacts.has(row.contact_id);
    const own = plan.messages.filter((message) => message.conversation_id === id).length;
    const isWhole = own === sql.count(id).n;
    const { title, ...conversation } = toConversation(row);
    const tickets = sql.tickets(id).map((ticket) => {
      const { name, summary, last_message_content: excerpt, ...rest } = toTicket(ticket);
      return {
        ...rest,
        ...(isBegunByThem && { name }),
        ...(isWhole && { summary, last_message_content: excerpt }),
        steps: sql.steps(ticket.id),
      };
    });
    yield { ...conversation, ...(isBegunByThem && { title }), tickets };
  }
}

/** @param files gets the files of the messages */
function* messages(
  db: Db,
  sql: ReturnType<typeof queries>,
  plan: PlatformPlan,
  files: Map<string, MediaRow | undefined>,
): Generator<object> {
  const fates = fateTable(db);
  for (const { id } of plan.messages) {
    const row = sql.message(id);
    if (row === undefined) continue;
    const attachments = sql.attachments(id);
    for (const file of attachments) files.set(file.id, file);
    const { sender, in_reply_to: inReplyTo, agent_contact: agentContact } = row;
    yield {
      ...toMessage(row),
      ...{ sender, in_reply_to: inReplyTo, agent_contact: agentContact },
      email: row.email === null ? undefined : (JSON.parse(row.email) as unknown),
      attachments: attachments.map(({ id: file, original_name: name, type, size }) => ({
        ...{ id: file, name, type, size },
      })),
      ...(row.role === 'agent' && { fate: fates.of(row), parts: fates.parts(id) }),
    };
  }
}

/** The addresses for replies by email, each with the replies that were or are to be mailed to it. */
function* leftAddresses(sql: ReturnType<typeof queries>, plan: PlatformPlan): Generator<object> {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  for (const id of plan.leftAddresses) {
    const row = sql.leftAddress(id);
    if (row === undefined) continue;
    yield {
      ...{ id, email: row.email, language: row.language },
      ...{ asked_at: time(row.asked_at), confirmed_at: time(row.confirmed_at) },
      ...{ replaced_at: time(row.replaced_at), stopped_at: time(row.stopped_at) },
      mails: sql.replyMails(id).map((mail) => ({
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

function queries(db: Db) {
  const { row, rows, one } = statements(db);
  return {
    contact: row<[string], ContactRow>(`SELECT * FROM contacts WHERE id = ?`),
    conversation: row<[string], ConversationRow>(`SELECT * FROM conversations WHERE id = ?`),
    tickets: rows<[string], TicketRow>(
      `SELECT * FROM tickets WHERE conversation_id = ? ORDER BY seq`,
    ),
    steps: rows<[string], object>(
      `SELECT what, user_id, assignee_id, at FROM ticket_steps WHERE ticket_id = ? ORDER BY seq`,
    ),
    message: row<[string], MessageRow>(`SELECT * FROM messages WHERE id = ?`),
    count: one<[string], { n: number }>(
      `SELECT count(*) AS n FROM messages WHERE conversation_id = ?`,
    ),
    attachments: rows<[string], MediaRow>(
      `SELECT m.* FROM attachments a JOIN media m ON m.id = a.media_id
       WHERE a.message_id = ? ORDER BY a.position`,
    ),
    leftAddress: row<[string], LeftAddressRow>(`SELECT * FROM left_addresses WHERE id = ?`),
    replyMails: rows<[string], ReplyMailRow>(
      `SELECT * FROM reply_mails WHERE address_id = ? ORDER BY sent_at`,
    ),
    file: row<[string], MediaRow>(`SELECT * FROM media WHERE id = ?`),
    event: row<[string], EventRow>(
      `SELECT id, contact_id, name, description, event_time, metric, created_at
       FROM events WHERE id = ?`,
    ),
  };
}
