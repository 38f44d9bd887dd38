import type { DeskMessage, DeskStep, WaitingTicket } from '../../domain/desk.ts';
import { excerptOf } from '../plain-text.ts';
import type { StepRow } from '../store/desk-table.ts';
import type { MessageRow, TicketRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/** Rows as people see them: with names instead of ids. */

/** More than anybody reads; an email may have two megabytes. */
const TEXT_MAX_CHARS = 50_000;
/** Of somebody whose name was never stored. */
const SOMEBODY = 'somebody';

export function shownMessage(store: Store, row: MessageRow): DeskMessage {
  const who = row.user_id === null ? undefined : (store.desk.nameOf(row.user_id) ?? SOMEBODY);
  return {
    id: row.id,
    at: Date.parse(row.created_at),
    from: row.role === 'customer' ? 'customer' : who === undefined ? 'agent' : 'person',
    ...(who !== undefined && { who }),
    isInternal: row.type === 'Internal',
    text: row.text.slice(0, TEXT_MAX_CHARS),
    ...(row.role === 'agent' && row.type === 'External' && { fate: store.fates.of(row) }),
    files: store.media
      .ofMessage(row.id)
      .map(({ id, original_name: name, type, size }) => ({ id, name, type, bytes: size })),
  };
}

export function shownStep(store: Store, row: StepRow): DeskStep {
  const to = row.assignee_id === null ? undefined : store.desk.nameOf(row.assignee_id);
  return {
    what: row.what,
    at: Date.parse(row.at),
    who: store.desk.nameOf(row.user_id) ?? SOMEBODY,
    ...(to !== undefined && { to }),
  };
}

/** A ticket in a list. */
export function shownTicket(store: Store, row: TicketRow): Omit<WaitingTicket, 'waitingSince'> {
  const conversation = store.conversations.get(row.conversation_id ?? '');
  const assignee = row.assignee_id === null ? undefined : store.desk.nameOf(row.assignee_id);
  return {
    ...{ id: row.id, number: row.number, name: row.name, status: row.status },
    channel: conversation?.type ?? 'email',
    customer: customerOf(store, row),
    excerpt: excerptOf(store.desk.lastWords(row.conversation_id ?? '')),
    ...(assignee !== undefined && { assignee }),
  };
}

/** The name of a ticket's customer, else their address or number. */
export function customerOf(store: Store, { shop, contact_id: id }: TicketRow): string {
  const contact = id === null ? undefined : store.contacts.byId(shop, id);
  return contact?.name ?? contact?.email ?? contact?.phone ?? '';
}
