import { randomUUID } from 'node:crypto';
import type { DeskStep } from '../../domain/desk.ts';
import { LIMITS } from '../open-points.ts';
import { type Db, statements } from './database.ts';
import { fitting } from './listing.ts';
import { LIFTED, type MessageRow, type TicketRow } from './rows.ts';

export interface StepRow {
  seq: number;
  ticket_id: string;
  user_id: string;
  what: DeskStep['what'];
  assignee_id: string | null;
  at: string;
}

/** Tickets of a shop that wait, and that no agent is about to answer. */
const LEFT_TO_PEOPLE = `
  shop = @shop AND status IN ('New', 'Open') AND waits_since IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM messages m INDEXED BY messages_unanswered
    WHERE m.unanswered = 1 AND m.conversation_id = tickets.conversation_id)`;

/** What is told of a message that somebody has not read. */
export type MessageHead = Pick<MessageRow, 'user_id' | 'role' | 'type' | 'created_at' | 'text'>;

interface TurnChange {
  readonly id: string;
  readonly status: 'Completed' | 'WaitingUser' | 'WaitingContact' | 'Open';
  readonly now: string;
}

/** What people at the desk read and change: the queue, who they are, and what they did. */
export function deskTable(db: Db) {
  const { rows, value, number, column, has, run, one } = statements(db);
  const addPerson = run<[userId: string, name: string]>(
    `INSERT INTO people (user_id, name) VALUES (?, ?) ON CONFLICT DO NOTHING`,
  );
  const byName = one<[name: string], { user_id: string }>(
    `SELECT user_id FROM people WHERE name = ?`,
  );
  const lastSteps = rows<[ticketId: string, limit: number], StepRow>(
    `SELECT * FROM ticket_steps WHERE ticket_id = ? ORDER BY seq DESC LIMIT ?`,
  );
  const lastWords = value<[conversationId: string], string>(
    `SELECT substr(text, 1, 1000) FROM messages
     WHERE conversation_id = ? AND role = 'customer' ORDER BY seq DESC LIMIT 1`,
  );
  const weighed = rows<
    [conversationId: string, before: number, limit: number],
    { seq: number; bytes: number }
  >(
    `SELECT seq, octet_length(content) + octet_length(text) AS bytes FROM messages
     WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  );
  const page = rows<[conversationId: string, before: number, limit: number], MessageRow>(
    `SELECT * FROM messages WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  );
  const haveConversations = run<[{ shop: string; now: string }]>(
    `UPDATE conversations SET resolution = 'human', updated_at = @now WHERE id IN
       (SELECT conversation_id FROM tickets WHERE ${LEFT_TO_PEOPLE})`,
  );
  const waitForPeople = run<[{ shop: string; now: string }]>(
    `UPDATE tickets SET status = 'WaitingUser', updated_at = @now WHERE ${LEFT_TO_PEOPLE}`,
  );
  const isAnswered = has<[conversationId: string, seq: number]>(
    `SELECT 1 FROM messages WHERE conversation_id = ? AND seq > ? AND role = 'agent'
     AND type = 'External' AND user_id IS NOT NULL AND status <> 'FAILED'`,
  );
  const forgetUnsent = column<[until: string], string>(
    `DELETE FROM unsent_files WHERE at < ? RETURNING media_id`,
  );
  const removeMedia = run<[id: string]>(`DELETE FROM media WHERE id = ?`);
  return {
    /** The stable id of a person, which is assigned when they first do something. */
    personId(name: string): string {
      addPerson(randomUUID(), name);
      return byName(name).user_id;
    },
    nameOf: value<[userId: string], string>(`SELECT name FROM people WHERE user_id = ?`),
    /** The longest waiting first. */
    waiting: rows<[shop: string, status: string, limit: number], TicketRow>(
      `SELECT * FROM tickets INDEXED BY tickets_waiting
       WHERE shop = ? AND status = ? AND waits_since IS NOT NULL ORDER BY waits_since LIMIT ?`,
    ),
    /** How many tickets wait, and since when the first of them. */
    countWaiting: one<[shop: string, status: string], { n: number; since: string | null }>(
      `SELECT count(*) AS n, min(waits_since) AS since FROM tickets INDEXED BY tickets_waiting
       WHERE shop = ? AND status = ? AND waits_since IS NOT NULL`,
    ),
    /**
     * The newest messages before one, notes too, oldest first, and whether there are earlier ones.
     * Large messages are fewer, since a customer may write many of 2 MB; there is at least one.
     */
    messagesBefore(conversationId: string, before: number, limit: number) {
      const found = weighed(conversationId, before, limit + 1);
      const count = Math.min(limit, fitting({ max: LIMITS.messagesPageMaxBytes }, found));
      const messages = page(conversationId, before, count).reverse();
      return { messages, hasEarlier: found.length > count };
    },
    /** The messages after one with the beginnings of their texts, notes too, oldest first. */
    messagesAfter: rows<[conversationId: string, seq: number, limit: number], MessageHead>(
      `SELECT user_id, role, type, created_at, substr(text, 1, 4000) AS text FROM messages
       WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    /** The beginning of the customer's last message. */
    lastWords: (conversationId: string): string => lastWords(conversationId) ?? '',
    lastMessage: number<[conversationId: string]>(
      `SELECT seq FROM messages WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1`,
    ),
    addStep: run<[Omit<StepRow, 'seq'>]>(
      `INSERT INTO ticket_steps (ticket_id, user_id, what, assignee_id, at)
       VALUES (@ticket_id, @user_id, @what, @assignee_id, @at)`,
    ),
    /** Oldest first. */
    stepsAfter: rows<[ticketId: string, seq: number, limit: number], StepRow>(
      `SELECT * FROM ticket_steps WHERE ticket_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    /** The newest ones, oldest first. */
    lastSteps: (ticketId: string, limit: number): StepRow[] => lastSteps(ticketId, limit).reverse(),
    lastStep: number<[ticketId: string]>(
      `SELECT seq FROM ticket_steps WHERE ticket_id = ? ORDER BY seq DESC LIMIT 1`,
    ),
    assign: run<[{ id: string; assigneeId: string | null }]>(
      `UPDATE tickets SET assignee_id = @assigneeId WHERE id = @id`,
    ),
    /** Sets whose turn it is, or that it is completed. */
    setTurn: run<[TurnChange]>(
      `UPDATE tickets SET status = @status, updated_at = @now,
         completed_at = iif(@status = 'Completed', @now, NULL),
         waits_since = iif(@status IN ('Open', 'WaitingUser'), coalesce(waits_since, @now), NULL)
       WHERE id = @id`,
    ),
    /** What waits in the shop waits for people, whose conversations they are. */
    leaveToPeople(left: { readonly shop: string; readonly now: string }): void {
      haveConversations(left);
      waitForPeople(left);
    },
    /** A file that somebody has uploaded for a message that they write. */
    addUnsentFile: run<[mediaId: string, at: string]>(
      `INSERT INTO unsent_files (media_id, at) VALUES (?, ?)`,
    ),
    /** A message has the file. */
    fileSent: run<[mediaId: string]>(`DELETE FROM unsent_files WHERE media_id = ?`),
    unsentBytes: number<[]>(
      `SELECT sum(size) FROM unsent_files CROSS JOIN media ON media.id = media_id`,
    ),
    /** Removes the records of files that no message got by then. @returns their ids */
    removeUnsentFiles(until: string): string[] {
      const ids = forgetUnsent(until);
      for (const id of ids) removeMedia(id);
      return ids;
    },
    /** The agent no longer answers what it has not answered yet. */
    takeFromAgent: run<[conversationId: string]>(
      `UPDATE messages SET unanswered = 0 WHERE unanswered = 1 AND conversation_id = ?`,
    ),
    /** Whether a person has answered a message of the customer; a reply that failed does not count. */
    isAnswered: ({ seq, conversation_id: id }: MessageRow): boolean => isAnswered(id, seq),
    /** The limits of automatic answers no longer apply to the message. */
    giveToAgent: run<[messageId: string]>(
      `UPDATE messages SET unanswered = 1, limit_reached = '${LIFTED}' WHERE id = ?`,
    ),
  };
}
