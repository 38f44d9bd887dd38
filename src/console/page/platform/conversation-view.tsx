import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { Card } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Skeleton } from '../ui/states.tsx';
import { contactAddress, writePlace } from './addresses.ts';
import { channelWords } from './channel-words.ts';
import { PlatformFailure } from './page-frame.tsx';
import type { Conversation } from './resources.ts';
import { StatusBadge } from './status-badge.tsx';
import { Moment } from './ticket-view.tsx';
import { TranscriptCard } from './transcript-card.tsx';

/** One conversation with its messages. */
export function ConversationView({ shop, id }: { readonly shop: string; readonly id: string }) {
  const { data, failure, reload } = useLoad(
    (signal) =>
      api.platform<Conversation>(shop, `conversations/${encodeURIComponent(id)}`, {}, signal),
    [shop, id],
  );
  if (data === undefined) {
    return failure === undefined ? (
      <Skeleton lines={8} />
    ) : (
      <PlatformFailure refusal={failure} onRetry={reload} />
    );
  }
  return (
    <div class="message-columns">
      <div class="message-main">
        <TranscriptCard {...{ shop }} conversation={id} />
      </div>
      <div class="message-side">
        <Card title="Conversation">
          {data.title && (
            <p class="resource-name">
              <bdi>{data.title}</bdi>
            </p>
          )}
          <dl class="resource-facts">
            <div>
              <dt>Channel</dt>
              <dd>{channelWords(data)}</dd>
            </div>
            <div>
              <dt>Status</dt>
              <dd>
                <StatusBadge status={data.status} />
              </dd>
            </div>
            {data.resolution && (
              <div>
                <dt>Resolution</dt>
                <dd>{data.resolution}</dd>
              </div>
            )}
            <Moment name="Begun" text={data.created_at} />
            <Moment name="Changed" text={data.updated_at} />
            {data.contact_id && (
              <div>
                <dt>Contact</dt>
                <dd>
                  <a class="mono" href={contactAddress(shop, data.contact_id)}>
                    {data.contact_id}
                  </a>
                </dd>
              </div>
            )}
            <div>
              <dt>Tickets</dt>
              <dd>
                <a
                  href={writePlace({
                    shop,
                    view: 'tickets',
                    id: '',
                    filters: { conversation_id: id },
                  })}
                >
                  Tickets of this conversation
                </a>
              </dd>
            </div>
            <div>
              <dt>Entries</dt>
              <dd>
                <a href={`/messages?text=${encodeURIComponent(id)}`}>What came through Sluice</a>
              </dd>
            </div>
            <div>
              <dt>Id</dt>
              <dd class="id-copy">
                <span class="mono">{data.id}</span>
                <CopyButton text={data.id} what="the conversation’s id" />
              </dd>
            </div>
          </dl>
        </Card>
      </div>
    </div>
  );
}
