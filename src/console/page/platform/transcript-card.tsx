import { useLocation } from 'preact-iso';
import { api } from '../api.ts';
import { exact } from '../formats.ts';
import { isDeskOnly } from '../stream.ts';
import { Badge, Card, Time } from '../ui/page-parts.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { toast } from '../ui/overlays.tsx';
import { PageFrame, usePlatformPages } from './page-frame.tsx';
import { transcript, type Turn } from './transcript.ts';

/** The messages of a conversation, as a chat. */
export function TranscriptCard(props: { readonly shop: string; readonly conversation: string }) {
  const { shop, conversation } = props;
  const pages = usePlatformPages(shop, 'messages', {
    conversation_id: conversation,
    limit: 100,
  });
  return (
    <Card
      title="Messages"
      tools={
        <Button size="small" look="quiet" icon="again" aria-label="Reload" onClick={pages.reload} />
      }
    >
      <PageFrame
        {...{ pages }}
        moreWords="Load more messages"
        empty={{
          icon: 'web_chat',
          title: 'No messages',
          hint: 'This conversation has no messages yet.',
        }}
        render={(messages) => (
          <ol class="transcript">
            {transcript(messages).map((turn) => (
              <TurnItem key={turn.id} {...{ turn }} />
            ))}
          </ol>
        )}
      />
    </Card>
  );
}

const STATUSES: Readonly<Record<string, string>> = {
  PENDING: 'pending',
  DELIVERED: 'delivered',
  FAILED: 'not delivered',
  HIDDEN: 'hidden',
};

/** The delivery status of a reply. */
export const StatusWords = ({ status }: { readonly status: string }) =>
  status === 'FAILED' ? (
    <Badge tone="danger" icon="failed">
      not delivered
    </Badge>
  ) : (
    <span class="muted">{STATUSES[status] ?? status}</span>
  );

const TurnItem = ({ turn }: { readonly turn: Turn }) => (
  <li class={`turn ${turn.side}`}>
    <p class="turn-head">
      <b>{turn.speaker}</b>
      {turn.side === 'internal' && <span class="muted">internal, hidden from the customer</span>}
      {turn.at !== undefined && (
        <span class="muted" title={exact(turn.at)}>
          <Time at={turn.at} />
        </span>
      )}
      {turn.status !== undefined && <StatusWords status={turn.status} />}
    </p>
    <div class="bubble" dir="auto">
      {turn.text === '' ? <span class="muted">(no text)</span> : turn.text}
    </div>
    {turn.attachments.length > 0 && (
      <ul class="turn-files small">
        {turn.attachments.map((name, index) => (
          <li key={index}>
            <Icon name="file" />
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    )}
    {turn.side === 'customer' && !isDeskOnly.value && <EntryLink message={turn.id} />}
  </li>
);

/** Links a message of the platform to its entry; the search also finds the platform's ids. */
export function EntryLink({ message }: { readonly message: string }) {
  const { route } = useLocation();
  const href = `/messages?text=${encodeURIComponent(message)}`;
  const open = async () => {
    try {
      const { entries } = await api.entries({ text: message, limit: 1 });
      const [found] = entries;
      if (found !== undefined) route(`/messages/${found.id}`);
      else
        toast({
          text: 'No entry found: the message did not come through this gateway, or its entry was deleted (spool.retain).',
        });
    } catch {
      route(href);
    }
  };
  return (
    <a
      class="small"
      href={href}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        void open();
      }}
    >
      Show entry
    </a>
  );
}
