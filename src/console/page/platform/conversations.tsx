import { isDeskOnly } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { CopyFact } from '../ui/copy-button.tsx';
import { Form, Input } from '../ui/field.tsx';
import { Card, Fact, TableCard } from '../ui/page-parts.tsx';
import { completeId } from '../messages/filters.ts';
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

/**
 * The conversations of the newest messages, since the API does not list conversations, or those with a
 * person who wrote through the gateway.
 */
export function ConversationsView({ place: { shop, filters }, go }: ListProps) {
  const pages = usePlatformPages(shop, 'conversations', { ...filters, limit: 50 });
  const { person = '' } = filters;
  return (
    <>
      <Form
        class="filter-fields platform-filters"
        onSubmit={(valueOf) => {
          const wanted = valueOf('id').trim();
          const id = completeId(wanted);
          if (id === undefined) go({ filters: { person: wanted } });
          else go({ id });
        }}
      >
        <Input
          label="Email address, phone number or conversation id"
          placeholder="Address, number or id"
          type="search"
          name="id"
          maxLength={320}
          spellcheck={false}
          data-search
          defaultValue={person}
        />
        <Button type="submit" icon="search">
          Find
        </Button>
      </Form>
      <PageFrame
        {...{ pages }}
        empty={
          person === ''
            ? {
                icon: 'web_chat',
                title: 'No conversations yet',
                hint: 'A customer’s first message starts one.',
              }
            : {
                icon: 'search',
                title: 'No conversation found',
                hint: 'Only conversations with messages that this gateway still keeps are found by person.',
              }
        }
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
          {!isDeskOnly.value && (
            <Fact name="Entries">
              <a href={`/messages?text=${encodeURIComponent(conversation.id)}`}>
                Messages in Sluice
              </a>
            </Fact>
          )}
          <CopyFact name="Id" text={conversation.id} what="the conversation id" />
        </dl>
      </Card>
    </BesideMessages>
  );
}
