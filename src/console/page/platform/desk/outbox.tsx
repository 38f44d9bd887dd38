import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { plural } from '../../formats.ts';
import { useLoad } from '../../loading.ts';
import { desk, onTickets } from '../../stream.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlays.tsx';
import { ChannelBadge, Empty, NotLoaded, TableCard, Time } from '../../ui/page-parts.tsx';
import type { ListedReply } from '../../../contract.ts';
import { changeReply, FateActions, FateWords } from './reply-fate.tsx';
import { useListTools } from './list-tools.tsx';
import { TicketCells } from './ticket-cells.tsx';

const WORDS = {
  search: 'Search the outbox',
  orders: { listed: 'Newest first', reversed: 'Oldest first', customer: 'By customer' },
};

/** The replies of all shops on the local platform that have not arrived. */
export function OutboxView() {
  const undelivered = desk.value?.shops.reduce((sum, shop) => sum + shop.undelivered, 0);
  const { data, failure, reload } = useLoad((signal) => api.outbox(signal), [undelivered]);
  useEffect(() => onTickets(reload), []);
  const { tools, shown } = useListTools(data?.failed ?? [], WORDS);
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
        {shown.length < failed.length && `; ${shown.length} shown`}
      </p>
      {failed.length > 0 && (
        <>
          {tools}
          <ManyActions replies={shown} {...{ reload }} />
          <Replies replies={shown} {...{ reload }} />
        </>
      )}
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

/** The same for all that are shown, after asking. */
function ManyActions(props: {
  readonly replies: readonly ListedReply[];
  readonly reload: () => void;
}) {
  const { replies, reload } = props;
  const [asked, setAsked] = useState<'send-again' | 'dismiss'>();
  const [isBusy, setBusy] = useState(false);
  if (replies.length < 2) return null;
  const act = async (action: 'send-again' | 'dismiss') => {
    setBusy(true);
    for (const { shop, id } of replies) await changeReply(shop, id, action);
    setBusy(false);
    setAsked(undefined);
    reload();
  };
  const all = plural(replies.length, 'reply', 'replies');
  const verb = asked === 'dismiss' ? `Mark ${all} as done` : `Send ${all} again`;
  return (
    <p class="desk-actions">
      <Button size="small" icon="again" onClick={() => setAsked('send-again')}>
        Send all again
      </Button>
      <Button size="small" look="quiet" onClick={() => setAsked('dismiss')}>
        All done
      </Button>
      <Dialog
        open={asked !== undefined}
        title={`${verb}?`}
        onClose={() => setAsked(undefined)}
        actions={
          <>
            <Button onClick={() => setAsked(undefined)}>Cancel</Button>
            <Button
              look="primary"
              busy={isBusy}
              autoFocus
              onClick={() => asked !== undefined && void act(asked)}
            >
              {verb}
            </Button>
          </>
        }
      >
        <p>
          {asked === 'dismiss'
            ? 'They leave this list, and are not sent.'
            : 'Each is sent once more on its own channel.'}
        </p>
      </Dialog>
    </p>
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
