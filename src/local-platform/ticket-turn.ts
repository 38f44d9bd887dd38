import type { MessageRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

/** Who has to speak next is somebody else now. What was said last, and when, stays as it is. */
export function setTurn(
  store: Store,
  { shop, ticket_id: id }: Pick<MessageRow, 'shop' | 'ticket_id'>,
  status: 'Open' | 'WaitingUser',
  nowMs: number,
): void {
  const ticket = store.tickets.byId(shop, id);
  if (ticket === undefined || ticket.status === status) return;
  const { last_message_content: excerpt, last_message_at: at } = ticket;
  store.tickets.spoken(id, status, excerpt ?? '', new Date(nowMs).toISOString(), at ?? '');
}
