import { api } from '../api.ts';
import { exact } from '../formats.ts';
import { useLoad } from '../load.ts';
import { Card } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Skeleton } from '../ui/states.tsx';
import { contactAddress, conversationAddress } from './addresses.ts';
import { PlatformFailure } from './page-frame.tsx';
import { type Ticket, timeOf } from './resources.ts';
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
            <div>
              <dt>Status</dt>
              <dd>
                <StatusBadge status={data.status} />
              </dd>
            </div>
            <div>
              <dt>Priority</dt>
              <dd>{data.priority ?? '–'}</dd>
            </div>
            <Moment name="Created" text={data.created_at} />
            <Moment name="Last message" text={data.last_message_at} />
            <Moment name="Completed" text={data.completed_at} />
            {contact && (
              <div>
                <dt>Contact</dt>
                <dd>
                  <a class="mono" href={contactAddress(shop, contact)}>
                    {contact}
                  </a>
                </dd>
              </div>
            )}
            {conversation && (
              <div>
                <dt>Conversation</dt>
                <dd>
                  <a class="mono" href={conversationAddress(shop, conversation)}>
                    {conversation}
                  </a>
                </dd>
              </div>
            )}
            <div>
              <dt>Id</dt>
              <dd class="id-copy">
                <span class="mono">{data.id}</span>
                <CopyButton text={data.id} what="the ticket’s id" />
              </dd>
            </div>
          </dl>
        </Card>
      </div>
    </div>
  );
}

/** A line for a time; none for one that is missing. */
export function Moment(props: { readonly name: string; readonly text: string | null | undefined }) {
  const at = timeOf(props.text);
  return at === undefined ? null : (
    <div>
      <dt>{props.name}</dt>
      <dd>{exact(at)}</dd>
    </div>
  );
}
