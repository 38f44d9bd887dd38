import { useLocation, useRoute } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import type { EntryDetail } from '../../contract.ts';
import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { lastListAddress } from '../messages/list-state.ts';
import { senderOf } from '../messages/entry-line.tsx';
import { onEntries } from '../stream.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Empty, Failure, Skeleton } from '../ui/states.tsx';
import { PageTitle } from '../ui/page-parts.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { AuthenticationCard, FactsCard } from './facts-card.tsx';
import { ContentCard } from './content-card.tsx';
import { MessageHeader } from './message-header.tsx';
import './message.css';
import { TimelineCard } from './timeline-card.tsx';

const RELOAD_AT_MOST_EVERY_MS = 500;

export function MessagePage() {
  const { params } = useRoute();
  const id = params['id'] ?? '';
  return <Message key={id} id={id} />;
}

function Message({ id }: { readonly id: string }) {
  const { data, failure, reload } = useLoad((signal) => api.entry(id, signal), [id]);
  useChanges(id, reload);
  useEscape();
  if (data === undefined && failure?.code === 'not_found') {
    return (
      <>
        <PageTitle title="Message" />
        <Empty icon="search" title="There is no such message">
          <p>It may have been swept (spool.retain), or erased. The id was</p>
          <p>
            <code>{id}</code>
          </p>
          <p class="empty-actions">
            <ButtonLink href={lastListAddress()}>All messages</ButtonLink>
          </p>
        </Empty>
      </>
    );
  }
  if (data === undefined) {
    return (
      <>
        <PageTitle title="Message" />
        {failure === undefined ? (
          <Skeleton lines={10} />
        ) : (
          <Failure refusal={failure} onRetry={reload} />
        )}
      </>
    );
  }
  return (
    <div class="message">
      <Neighbours entry={data} />
      <PageTitle title={titleOf(data)} />
      <MessageHeader entry={data} onChanged={reload} />
      <div class="message-columns">
        <div class="message-main">
          <TimelineCard entry={data} />
          <ContentCard entry={data} />
        </div>
        <div class="message-side">
          <FactsCard entry={data} />
          <AuthenticationCard entry={data} />
        </div>
      </div>
    </div>
  );
}

const titleOf = (entry: EntryDetail): string => {
  if (entry.subject !== '') return entry.subject;
  if (entry.kind === 'event') return 'Note on a contact';
  if (entry.channel === 'email') return '(no subject)';
  return `${entry.channel === 'sms' ? 'Text' : 'Chat'} from ${senderOf(entry)}`;
};

/** Loads again when the gateway says that it has changed. */
function useChanges(id: string, reload: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const end = onEntries((ids) => {
      if (!ids.includes(id)) return;
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        reload();
      }, RELOAD_AT_MOST_EVERY_MS);
    });
    return () => {
      end();
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [id, reload]);
}

/** Back to the list, as it was left. */
function useEscape(): void {
  const { route } = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (event.target instanceof HTMLElement && event.target.matches('input, textarea')) return;
      route(lastListAddress());
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [route]);
}

/** Back to the list, and to the messages before and after this one. */
const Neighbours = ({ entry }: { readonly entry: EntryDetail }) => (
  <nav class="neighbours" aria-label="Messages around this one">
    <a href={lastListAddress()} class="button quiet small">
      <Icon name="back" />
      <span>Messages</span>
    </a>
    <span class="neighbours-around">
      <Neighbour to={entry.previous} icon="back" label="Older message" />
      <Neighbour to={entry.following} icon="forward" label="Newer message" />
    </span>
  </nav>
);

const Neighbour = (props: {
  readonly to: string | undefined;
  readonly icon: IconName;
  readonly label: string;
}) =>
  props.to === undefined ? (
    <span class="button quiet bare small" aria-hidden="true" data-disabled>
      <Icon name={props.icon} />
    </span>
  ) : (
    <a
      href={`/messages/${props.to}`}
      class="button quiet bare small"
      aria-label={props.label}
      title={props.label}
    >
      <Icon name={props.icon} />
    </a>
  );
