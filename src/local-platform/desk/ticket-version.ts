import { type DeskChange, DeskRefused } from '../../domain/desk.ts';
import { excerptOf } from '../plain-text.ts';
import type { MessageHead } from '../store/desk-table.ts';
import type { TicketRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { shownStep } from './shown.ts';

const CHANGES_MAX = 20;

/**
 * What a person has seen of a ticket: the last step, the last message and the status. A ticket with
 * the same three is the same, and what is after them is what has changed. Times would not do: two
 * changes may have the same one.
 */
export function versionOf(store: Store, { id, conversation_id, status }: TicketRow): string {
  return [store.desk.lastStep(id), store.desk.lastMessage(conversation_id ?? ''), status].join('.');
}

/**
 * What happened to a ticket since somebody read this version of it, oldest first; nothing when they
 * have seen it all.
 * @throws {DeskRefused} invalid: not a version
 */
export function changesSince(store: Store, ticket: TicketRow, version: string): DeskChange[] {
  const [, step, message, status] =
    /^(\d{1,15})\.(\d{1,15})\.([A-Za-z]{1,20})$/.exec(version) ?? [];
  if (status === undefined) throw new DeskRefused('invalid', 'The version is not valid');
  const steps = store.desk
    .stepsAfter(ticket.id, Number(step), CHANGES_MAX)
    .map((row) => shownStep(store, row));
  const messages = store.desk
    .messagesAfter(ticket.conversation_id ?? '', Number(message), CHANGES_MAX)
    .map((row) => changeBy(store, row));
  const changes = [...messages, ...steps].sort((a, b) => a.at - b.at);
  // A reply could not be delivered, or the agent has escalated.
  return changes.length === 0 && status !== ticket.status
    ? [{ what: 'status', at: Date.parse(ticket.updated_at), text: ticket.status }]
    : changes;
}

function changeBy(store: Store, row: MessageHead): DeskChange {
  const who = row.user_id === null ? undefined : store.desk.nameOf(row.user_id);
  const byTeam = row.user_id === null ? 'agent_reply' : row.type === 'Internal' ? 'note' : 'reply';
  return {
    what: row.role === 'customer' ? 'message' : byTeam,
    at: Date.parse(row.created_at),
    ...(who !== undefined && { who }),
    text: excerptOf(row.text),
  };
}
