import { Button } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';
import { conversationAddress, type Go, type PlatformPlace } from './addresses.ts';
import { channelWords } from './channel-words.ts';
import { fieldOf } from './form-field.ts';
import { PageFrame } from './page-frame.tsx';
import { type Conversation, firstOf, timeOf } from './resources.ts';
import { StatusBadge } from './status-badge.tsx';
import { usePages } from './use-pages.ts';

/** The API has no list of conversations: these are the ones of the newest messages. */
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
          label="Conversation’s id"
          quietLabel
          placeholder="Conversation’s id"
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
          hint: 'A customer’s first message begins one.',
        }}
        render={(conversations) => (
          <div class="table-frame card">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Conversation</th>
                  <th scope="col">Channel</th>
                  <th scope="col">Status</th>
                  <th scope="col">Changed</th>
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

/** Two pages of messages may be of one conversation. */
const unique = (conversations: readonly Conversation[]): readonly Conversation[] => [
  ...new Map(conversations.map((each) => [each.id, each])).values(),
];
