import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { Card } from '../ui/card.tsx';
import { Fact } from '../ui/fact.tsx';
import { Skeleton } from '../ui/states.tsx';
import { contactAddress, writePlace } from './addresses.ts';
import { channelWords } from './channel-words.ts';
import { LinkedId, Moment, OwnId } from './facts.tsx';
import { PlatformFailure } from './page-frame.tsx';
import type { Conversation } from './resources.ts';
import { StatusBadge } from './status-badge.tsx';
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
            <Fact name="Channel">{channelWords(data)}</Fact>
            <Fact name="Status">
              <StatusBadge status={data.status} />
            </Fact>
            {data.resolution && <Fact name="Resolution">{data.resolution}</Fact>}
            <Moment name="Begun" text={data.created_at} />
            <Moment name="Changed" text={data.updated_at} />
            <LinkedId name="Contact" id={data.contact_id} href={(of) => contactAddress(shop, of)} />
            <Fact name="Tickets">
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
            </Fact>
            <Fact name="Entries">
              <a href={`/messages?text=${encodeURIComponent(id)}`}>What came through Sluice</a>
            </Fact>
            <OwnId id={data.id} what="conversation" />
          </dl>
        </Card>
      </div>
    </div>
  );
}
