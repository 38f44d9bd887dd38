import { useEffect } from 'preact/hooks';
import { api } from '../../api.ts';
import { plural } from '../../formats.ts';
import { useLoad } from '../../loading.ts';
import { desk, onTickets } from '../../stream.ts';
import { ChannelBadge, Empty, NotLoaded, TableCard, Time } from '../../ui/page-parts.tsx';
import type { ListedReply } from '../../../contract.ts';
import { FateActions, FateWords } from './reply-fate.tsx';
import { TicketCells } from './ticket-cells.tsx';

/** The replies of all shops on the local platform that have not arrived. */
export function OutboxView() {
  const undelivered = desk.value?.shops.reduce((sum, shop) => sum + shop.undelivered, 0);
  const { data, failure, reload } = useLoad((signal) => api.outbox(signal), [undelivered]);
  useEffect(() => onTickets(reload), []);
  if (data === undefined) {
    return <NotLoaded {...{ failure }} onRetry={reload} lines={6} height={28} />;
  }
  const { failed, deferred } = data;
  if (failed.length + deferred.length === 0) {
    return (
      <Empty icon="ok" title="Every reply has been sent">
        <p>
          Replies that were refused, or that came back, appear here until somebody deals with them.
        </p>
      </Empty>
    );
  }
  return (
    <div class="queue">
      <p class="queue-count muted" role="status">
        {plural(failed.length, 'reply', 'replies')} not delivered
      </p>
      {failed.length > 0 && <Replies replies={failed} {...{ reload }} />}
      {deferred.length > 0 && (
        <>
          <p class="queue-count muted">
            {plural(deferred.length, 'reply', 'replies')} to be tried again
          </p>
          <Replies replies={deferred} {...{ reload }} />
        </>
      )}
    </div>
  );
}

const Replies = ({
  replies,
  reload,
}: {
  readonly replies: readonly ListedReply[];
  readonly reload: () => void;
}) => (
  <TableCard class="table-frame" columns={['Reply', 'Customer', 'Channel', 'Status']}>
    {replies.map((reply) => (
      <Row key={reply.id} {...{ reply, reload }} />
    ))}
  </TableCard>
);

function Row({ reply, reload }: { readonly reply: ListedReply; readonly reload: () => void }) {
  const { shop, id, channel, fate, nextAt, attempts, otherChannels } = reply;
  return (
    <tr>
      <TicketCells ticketId={reply.ticketId} listed={reply} />
      <td>
        <ChannelBadge {...{ channel }} />
      </td>
      <td class="wide-cell">
        <p class="turn-head">
          <FateWords {...{ fate }} />
        </p>
        {fate.state === 'failed' && (
          <FateActions {...{ shop, id, otherChannels }} onDone={reload} />
        )}
        {nextAt !== undefined && (
          <p class="muted">
            {plural(attempts ?? 0, 'attempt')}, next <Time at={nextAt} />
          </p>
        )}
      </td>
    </tr>
  );
}
