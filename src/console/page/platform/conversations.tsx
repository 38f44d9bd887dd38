import { Button } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';
import { Card, Fact, Skeleton, Time } from '../ui/page-parts.tsx';
import { api, useLoad } from '../api.ts';
import {
  contactAddress,
  conversationAddress,
  type Go,
  type PlatformPlace,
  writePlace,
} from './addresses.ts';
import { channelWords, LinkedIdRow, TimeRow, IdRow, StatusBadge } from './facts.tsx';
import { fieldOf, PageFrame, PlatformFailure, usePages } from './page-frame.tsx';
import { type Conversation, firstOf, timeOf } from './resources.ts';
import { TranscriptCard } from './transcript-card.tsx';

/** The conversations of the newest messages, since the API does not list conversations. */
export function ConversationsView({
  place,
  go,
}: {
  readonly place: PlatformPlace;
  readonly go: Go;
}) {
  const { shop } = place;
  const pages = usePages<Conversation>(shop, 'conversations', { limit: 50 });
  return (
    <>
      <form
        class="filter-fields platform-filters"
        onSubmit={(event) => {
          event.preventDefault();
          const id = fieldOf(event.currentTarget, 'id');
          if (id !== '') go({ id });
        }}
      >
        <Input
          label="Conversation id"
          quietLabel
          placeholder="Conversation id"
          name="id"
          maxLength={64}
          spellcheck={false}
        />
        <Button type="submit" icon="search">
          Open
        </Button>
      </form>
      <PageFrame
        {...{ pages }}
        empty={{
          icon: 'web_chat',
          title: 'No conversations yet',
          hint: 'A customer’s first message starts one.',
        }}
        render={(conversations) => (
          <div class="table-frame card">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Conversation</th>
                  <th scope="col">Channel</th>
                  <th scope="col">Status</th>
                  <th scope="col">Updated</th>
                </tr>
              </thead>
              <tbody>
                {unique(conversations).map((conversation) => {
                  const at = timeOf(conversation.updated_at);
                  return (
                    <tr key={conversation.id}>
                      <td class="wide-cell">
                        <a href={conversationAddress(shop, conversation.id)}>
                          <bdi>{firstOf(conversation.title) ?? 'Untitled conversation'}</bdi>
                        </a>
                        <p class="muted mono ellipsis">{conversation.id}</p>
                      </td>
                      <td>{channelWords(conversation)}</td>
                      <td>
                        <StatusBadge status={conversation.status} />
                      </td>
                      <td class="nowrap">{at !== undefined && <Time {...{ at }} />}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
      />
    </>
  );
}

/** Several pages of messages may contain the same conversation. */
const unique = (conversations: readonly Conversation[]): readonly Conversation[] => [
  ...new Map(conversations.map((each) => [each.id, each])).values(),
];

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
            <TimeRow name="Started" text={data.created_at} />
            <TimeRow name="Updated" text={data.updated_at} />
            <LinkedIdRow
              name="Contact"
              id={data.contact_id}
              href={(of) => contactAddress(shop, of)}
            />
            <Fact name="Tickets">
              <a
                href={writePlace({
                  shop,
                  view: 'tickets',
                  id: '',
                  filters: { conversation_id: id },
                })}
              >
                Tickets in this conversation
              </a>
            </Fact>
            <Fact name="Entries">
              <a href={`/messages?text=${encodeURIComponent(id)}`}>Messages in Sluice</a>
            </Fact>
            <IdRow id={data.id} what="conversation" />
          </dl>
        </Card>
      </div>
    </div>
  );
}
