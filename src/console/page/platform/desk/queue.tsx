import { useEffect } from 'preact/hooks';
import { api } from '../../api.ts';
import { plural, span } from '../../formats.ts';
import { useLoad } from '../../loading.ts';
import { now } from '../../now.ts';
import { desk, onTickets, openings } from '../../stream.ts';
import { Badge, ChannelBadge, Empty, NotLoaded, TableCard } from '../../ui/page-parts.tsx';
import type { QueuedTicket } from '../../../contract.ts';
import { useQueueKeys } from './desk-keys.ts';
import { useListTools } from './list-tools.tsx';
import { TicketCells } from './ticket-cells.tsx';

/** As many as the gateway lists. */
const LISTED_MAX = 200;

const WORDS = {
  search: 'Search the queue',
  orders: { listed: 'Longest wait first', reversed: 'Newest first', customer: 'By customer' },
};

/** What waits for a person in all shops on the local platform, the longest waiting first. */
export function QueueView() {
  const waiting = desk.value?.shops.reduce((sum, shop) => sum + shop.waiting, 0);
  // The count tells of changes that no event does, such as those of a reload.
  const { data, failure, reload } = useLoad(
    (signal) => api.deskQueue(signal),
    [waiting, openings.value],
  );
  useEffect(() => onTickets(reload), []);
  useQueueKeys();
  const { tools, shown } = useListTools(data?.tickets ?? [], WORDS, true);
  if (data === undefined) {
    return <NotLoaded {...{ failure }} onRetry={reload} lines={6} height={28} />;
  }
  const { tickets } = data;
  if (tickets.length === 0) {
    return (
      <Empty icon="ok" title="Nobody waits">
        <p>Tickets that the AI agent hands over appear here, the longest waiting first.</p>
      </Empty>
    );
  }
  // The list and the count come separately.
  const count = tickets.length < LISTED_MAX ? tickets.length : (waiting ?? tickets.length);
  const hasShops = new Set(tickets.map(({ shop }) => shop)).size > 1;
  return (
    <div class="queue">
      <p class="queue-count muted" role="status">
        {plural(count, 'ticket')} {count === 1 ? 'waits' : 'wait'} for a person
        {shown.length < tickets.length && `; ${shown.length} shown`}
      </p>
      {tools}
      <TableCard
        class="table-frame"
        columns={['Ticket', 'Customer', ...(hasShops ? ['Shop'] : []), 'Channel', 'Waits', 'Who']}
      >
        {shown.map((ticket) => (
          <Row key={ticket.id} {...{ ticket, hasShops }} />
        ))}
      </TableCard>
    </div>
  );
}

function Row({ ticket, hasShops }: { readonly ticket: QueuedTicket; readonly hasShops: boolean }) {
  const { shop, channel, assignee } = ticket;
  return (
    <tr>
      <TicketCells ticketId={ticket.id} listed={ticket} />
      {hasShops && <td>{shop}</td>}
      <td>
        <ChannelBadge {...{ channel }} />
      </td>
      <td class="nowrap">
        <Waiting {...{ shop }} since={ticket.waitingSince} />
      </td>
      <td class="nowrap">{assignee ?? <span class="muted">nobody</span>}</td>
    </tr>
  );
}

/** How long a customer waits, with a warning beyond what the shop allows. */
export function Waiting({ shop, since }: { readonly shop: string; readonly since: number }) {
  const limit = desk.value?.shops.find((each) => each.shop === shop)?.answerWithinMs;
  const waits = now.value - since;
  const words = span(waits);
  return limit !== undefined && waits > limit ? (
    <Badge tone="danger" icon="alert">
      {words}
    </Badge>
  ) : (
    <>{words}</>
  );
}
