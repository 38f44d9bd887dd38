import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { Card } from '../ui/card.tsx';
import { Fact } from '../ui/fact.tsx';
import { Skeleton } from '../ui/states.tsx';
import { contactAddress, conversationAddress } from './addresses.ts';
import { LinkedId, Moment, OwnId } from './facts.tsx';
import { PlatformFailure } from './page-frame.tsx';
import type { Ticket } from './resources.ts';
import { StatusBadge } from './status-badge.tsx';
import { TranscriptCard } from './transcript-card.tsx';

/** One ticket with its conversation. */
export function TicketView({ shop, id }: { readonly shop: string; readonly id: string }) {
  const { data, failure, reload } = useLoad(
    (signal) => api.platform<Ticket>(shop, `tickets/${encodeURIComponent(id)}`, {}, signal),
    [shop, id],
  );
  if (data === undefined) {
    return failure === undefined ? (
      <Skeleton lines={8} />
    ) : (
      <PlatformFailure refusal={failure} onRetry={reload} />
    );
  }
  const { conversation_id: conversation, contact_id: contact } = data;
  return (
    <div class="message-columns">
      <div class="message-main">
        {conversation ? (
          <TranscriptCard {...{ shop }} conversation={conversation} />
        ) : (
          <Card title="Messages">
            <p class="muted">This ticket has no conversation.</p>
          </Card>
        )}
      </div>
      <div class="message-side">
        <Card title={`Ticket ${data.number}`}>
          <p class="resource-name">
            <bdi>{data.name}</bdi>
          </p>
          {data.summary && (
            <p class="muted">
              <bdi>{data.summary}</bdi>
            </p>
          )}
          <dl class="resource-facts">
            <Fact name="Status">
              <StatusBadge status={data.status} />
            </Fact>
            <Fact name="Priority">{data.priority ?? '–'}</Fact>
            <Moment name="Created" text={data.created_at} />
            <Moment name="Last message" text={data.last_message_at} />
            <Moment name="Completed" text={data.completed_at} />
            <LinkedId name="Contact" id={contact} href={(of) => contactAddress(shop, of)} />
            <LinkedId
              name="Conversation"
              id={conversation}
              href={(of) => conversationAddress(shop, of)}
            />
            <OwnId id={data.id} what="ticket" />
          </dl>
        </Card>
      </div>
    </div>
  );
}
