import { useLocation, useRoute } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EntryAction, EntryDetail } from '../../contract.ts';
import { api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { lastListAddress } from '../messages/list-state.ts';
import { senderOf } from '../messages/entry-line.tsx';
import { onEntries, overview } from '../stream.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import {
  ChannelBadge,
  Empty,
  Fact,
  NotLoaded,
  PageTitle,
  StateBadge,
  Time,
} from '../ui/page-parts.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { span } from '../formats.ts';
import { ACTION_WORDS } from '../messages/actions.ts';
import { ACTION_ICONS, ConfirmAction, type Intent } from '../messages/selection-bar.tsx';
import { actOnOne } from '../messages/acting.ts';
import { now } from '../now.ts';
import { AuthenticationCard, DetailsCard } from './facts-card.tsx';
import { ContentCard } from './content-card.tsx';
import './message.css';
import { isStopped, StopNotes } from '../overview/stop-notes.tsx';
import { TimelineCard } from './timeline-card.tsx';
import { Because } from './because.tsx';
import { useMessageKeys } from './message-keys.ts';
import { explainState } from './message-words.ts';

const RELOAD_AT_MOST_EVERY_MS = 500;

export function MessagePage() {
  const { params } = useRoute();
  const id = params['id'] ?? '';
  return <Message key={id} id={id} />;
}

function Message({ id }: { readonly id: string }) {
  const { data, failure, reload } = useLoad((signal) => api.entry(id, signal), [id]);
  const { route } = useLocation();
  const { busy, act, intent, onConfirm, onClose } = useActions(data, reload);
  useChanges(id, reload);
  const open = (to: string | undefined) => {
    if (to !== undefined) route(`/messages/${to}`);
  };
  useMessageKeys({
    older: () => open(data?.previous),
    newer: () => open(data?.following),
    leave: () => route(lastListAddress()),
    act: (action) => {
      if (data?.actions.includes(action) === true && busy === undefined) act(action);
    },
  });
  if (data === undefined) {
    return (
      <>
        <PageTitle title="Message" />
        {failure?.code === 'not_found' ? (
          <NotFound id={id} />
        ) : (
          <NotLoaded {...{ failure }} onRetry={reload} lines={10} />
        )}
      </>
    );
  }
  return (
    <div class="message">
      <Neighbours entry={data} />
      <PageTitle title={titleOf(data)} />
      <MessageHeader entry={data} {...{ busy, act }} />
      <ConfirmAction {...{ intent, onConfirm, onClose }} />
      <div class="message-columns">
        <div class="cards">
          <TimelineCard entry={data} />
          <ContentCard entry={data} />
        </div>
        <div class="cards">
          <DetailsCard entry={data} />
          <AuthenticationCard entry={data} />
        </div>
      </div>
    </div>
  );
}

const NotFound = ({ id }: { readonly id: string }) => (
  <Empty icon="search" title="Message not found">
    <p>It may have been deleted (spool.retain) or erased. Id:</p>
    <p>
      <code>{id}</code>
    </p>
    <p class="empty-actions">
      <ButtonLink href={lastListAddress()}>All messages</ButtonLink>
    </p>
  </Empty>
);

const titleOf = (entry: EntryDetail): string => {
  if (entry.subject !== '') return entry.subject;
  if (entry.kind === 'event') return 'Note on a contact';
  if (entry.channel === 'email') return '(no subject)';
  return `${entry.channel === 'sms' ? 'Text' : 'Chat'} from ${senderOf(entry)}`;
};

/** Reloads the message when the stream reports a change. */
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

/** Links to the list and to the adjacent messages. */
const Neighbours = ({ entry }: { readonly entry: EntryDetail }) => (
  <nav class="neighbours" aria-label="Adjacent messages">
    <ButtonLink look="quiet" size="small" icon="back" href={lastListAddress()}>
      Messages
    </ButtonLink>
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
    <ButtonLink
      look="quiet"
      size="small"
      icon={props.icon}
      href={`/messages/${props.to}`}
      aria-label={props.label}
    />
  );

interface EntryProps {
  readonly entry: EntryDetail;
  /** The action in progress. */
  readonly busy: EntryAction | undefined;
  readonly act: (action: EntryAction) => void;
}

/** Runs one action at a time. A release asks first: an attempt may follow at once, and ends what can be undone. */
function useActions(entry: EntryDetail | undefined, onChanged: () => void) {
  const [busy, setBusy] = useState<EntryAction>();
  const [intent, setIntent] = useState<Intent>();
  const onClose = () => setIntent(undefined);
  const onConfirm = async ({ action }: Pick<Intent, 'action'>) => {
    if (entry === undefined) return;
    onClose();
    setBusy(action);
    await actOnOne({ action, ids: [entry.id] }, onChanged);
    setBusy(undefined);
  };
  const act = (action: EntryAction) => {
    if (entry === undefined) return;
    const states = new Map([[entry.state, 1]]);
    if (action === 'release') setIntent({ action, count: 1, more: false, states });
    else void onConfirm({ action });
  };
  return { busy, act, intent, onConfirm, onClose };
}

/** Sender, recipient, state, its explanation, and the available actions. */
function MessageHeader({ entry, busy, act }: EntryProps) {
  const { meaning, todo, quotedReason, platformWords } = explainState(entry);
  return (
    <section class={`message-header ${entry.state}`} aria-label="State">
      <dl class="who">
        <Fact name="From">
          <bdi>{senderOf(entry)}</bdi>
        </Fact>
        {entry.to !== '' && (
          <Fact name="To" class="clamped" tabIndex={entry.to.length > 300 ? 0 : undefined}>
            <bdi>{entry.to}</bdi>
          </Fact>
        )}
        {entry.about !== undefined && (
          <Fact name={entry.reasonCode === 'bounce' ? 'Not reached' : 'Noted on'}>
            <bdi>{entry.about.join(', ')}</bdi>
          </Fact>
        )}
      </dl>
      <p class="state-line">
        <StateBadge state={entry.state} />
        <ChannelBadge channel={entry.channel} />
        <span class="muted">
          received <Time at={entry.receivedAt} />
        </span>
        {entry.state === 'queued' &&
          entry.nextAttemptAt !== undefined &&
          !isStopped(entry.shop) && (
            <span class="muted">
              next attempt <Countdown at={entry.nextAttemptAt} />
            </span>
          )}
      </p>
      <p>{meaning}</p>
      {entry.state === 'queued' && <StopNotes shop={entry.shop} />}
      {quotedReason !== undefined && <Because reason={quotedReason} words={platformWords} />}
      {todo !== '' && <p class="muted">{todo}</p>}
      <Actions {...{ entry, busy, act }} />
    </section>
  );
}

const Countdown = ({ at }: { readonly at: number }) => (
  <b>{at - now.value <= 0 ? 'due' : `in ${span(at - now.value + 999)}`}</b>
);

function Actions({ entry, busy, act }: EntryProps) {
  // A queued message is not tried while delivery is paused.
  const isPaused = entry.state === 'queued' && overview.value?.deliveryPaused === true;
  const actions = entry.actions.filter((action) => !isPaused || action !== 'retry');
  if (actions.length === 0) return null;
  const main = actions[0] === 'discard' ? undefined : actions[0];
  return (
    <div class="message-actions">
      {actions.map((action) => (
        <Button
          key={action}
          look={action === main ? 'primary' : 'plain'}
          icon={ACTION_ICONS[action]}
          busy={busy === action}
          disabled={busy !== undefined && busy !== action}
          title={ACTION_WORDS[action].consequence(false)}
          onClick={() => act(action)}
        >
          {labelOf(action, entry)}
        </Button>
      ))}
    </div>
  );
}

function labelOf(action: EntryAction, { state }: EntryDetail): string {
  if (action === 'release') return state === 'suppressed' ? 'Submit anyway' : 'Release';
  if (action === 'retry') return state === 'queued' ? 'Try now' : 'Retry';
  return ACTION_WORDS[action].verb;
}
