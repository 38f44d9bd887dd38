import { Button } from '../ui/button.tsx';
import { CopyFact } from '../ui/copy-button.tsx';
import { Form, Input } from '../ui/field.tsx';
import { Card, Fact, TableCard } from '../ui/page-parts.tsx';
import { addressIn, writePlace } from './addresses.ts';
import {
  BesideMessages,
  channelWords,
  LinkedIdRow,
  StatusBadge,
  TimeCell,
  TimeRow,
} from './facts.tsx';
import { type ItemProps, type ListProps, PageFrame, usePlatformPages } from './page-frame.tsx';
import { type Conversation, firstOf, timeOf } from './resources.ts';
import { TranscriptCard } from './transcript-card.tsx';

const COLUMNS = ['Conversation', 'Channel', 'Status', 'Updated'];

/** The conversations of the newest messages, since the API does not list conversations. */
export function ConversationsView({ place: { shop }, go }: ListProps) {
  const pages = usePlatformPages(shop, 'conversations', { limit: 50 });
  return (
    <>
      <Form
        class="filter-fields platform-filters"
        onSubmit={(valueOf) => {
          const id = valueOf('id').trim();
          if (id !== '') go({ id });
        }}
      >
        <Input
          label="Conversation id"
          placeholder="Conversation id"
          name="id"
          maxLength={64}
          spellcheck={false}
        />
        <Button type="submit" icon="search">
          Open
        </Button>
      </Form>
      <PageFrame
        {...{ pages }}
        empty={{
          icon: 'web_chat',
          title: 'No conversations yet',
          hint: 'A customer’s first message starts one.',
        }}
        render={(conversations) => (
          <TableCard class="table-frame" columns={COLUMNS}>
            {unique(conversations).map((conversation) => (
              <Row key={conversation.id} {...{ shop, conversation }} />
            ))}
          </TableCard>
        )}
      />
    </>
  );
}

/** Several pages of messages may contain the same conversation. */
const unique = (conversations: readonly Conversation[]): readonly Conversation[] => [
  ...new Map(conversations.map((each) => [each.id, each])).values(),
];

function Row(props: { readonly shop: string; readonly conversation: Conversation }) {
  const { id, title, status, updated_at } = props.conversation;
  return (
    <tr>
      <td class="wide-cell">
        <a href={addressIn('conversations', props.shop, id)}>
          <bdi>{firstOf(title) ?? 'Untitled conversation'}</bdi>
        </a>
        <p class="muted mono ellipsis">{id}</p>
      </td>
      <td>{channelWords(props.conversation)}</td>
      <td>
        <StatusBadge {...{ status }} />
      </td>
      <TimeCell at={timeOf(updated_at)} />
    </tr>
  );
}

/** One conversation with its messages. */
export function ConversationItem({ shop, item: conversation }: ItemProps<'conversations'>) {
  return (
    <BesideMessages messages={<TranscriptCard {...{ shop }} conversation={conversation.id} />}>
      <Card title="Conversation">
        {conversation.title && (
          <p class="resource-name">
            <bdi>{conversation.title}</bdi>
          </p>
        )}
        <dl class="resource-facts">
          <Fact name="Channel">{channelWords(conversation)}</Fact>
          <Fact name="Status">
            <StatusBadge status={conversation.status} />
          </Fact>
          {conversation.resolution && <Fact name="Resolution">{conversation.resolution}</Fact>}
          <TimeRow name="Started" text={conversation.created_at} />
          <TimeRow name="Updated" text={conversation.updated_at} />
          <LinkedIdRow name="Contact" view="contacts" id={conversation.contact_id} {...{ shop }} />
          <Fact name="Tickets">
            <a
              href={writePlace({
                shop,
                view: 'tickets',
                id: '',
                filters: { conversation_id: conversation.id },
              })}
            >
              Tickets in this conversation
            </a>
          </Fact>
          <Fact name="Entries">
            <a href={`/messages?text=${encodeURIComponent(conversation.id)}`}>Messages in Sluice</a>
          </Fact>
          <CopyFact name="Id" text={conversation.id} what="the conversation id" />
        </dl>
      </Card>
    </BesideMessages>
  );
}
