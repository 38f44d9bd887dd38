import { useState } from 'preact/hooks';
import type { EntryAction, EntryDetail } from '../../contract.ts';
import { span } from '../formats.ts';
import { ACTION_WORDS } from '../messages/actions.ts';
import { ACTION_ICONS } from '../messages/selection-bar.tsx';
import { actOnOne } from '../messages/acting.ts';
import { senderOf } from '../messages/entry-line.tsx';
import { now } from '../now.ts';
import { ChannelBadge, StateBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Time } from '../ui/page-parts.tsx';
import { situation } from './situation.ts';

/** Who wrote, where the message stands and why, and what can be done about it. */
export function MessageHeader(props: {
  readonly entry: EntryDetail;
  readonly onChanged: () => void;
}) {
  const { entry, onChanged } = props;
  const { meaning, todo, because } = situation(entry);
  return (
    <section class={`message-header ${entry.state}`} aria-label="State">
      <dl class="who">
        <div>
          <dt>From</dt>
          <dd>
            <bdi>{senderOf(entry)}</bdi>
          </dd>
        </div>
        {entry.to !== '' && (
          <div>
            <dt>To</dt>
            <dd class="clamped" tabIndex={entry.to.length > 300 ? 0 : undefined}>
              <bdi>{entry.to}</bdi>
            </dd>
          </div>
        )}
      </dl>
      <p class="state-line">
        <StateBadge state={entry.state} />
        <ChannelBadge channel={entry.channel} />
        <span class="muted">
          received <Time at={entry.receivedAt} />
        </span>
        {entry.state === 'queued' && entry.nextAttemptAt !== undefined && (
          <span class="muted">
            next attempt <Countdown at={entry.nextAttemptAt} />
          </span>
        )}
      </p>
      <p>{meaning}</p>
      {because !== undefined && <p class="because">{because}</p>}
      {todo !== '' && <p class="muted">{todo}</p>}
      <Actions {...{ entry, onChanged }} />
    </section>
  );
}

const Countdown = ({ at }: { readonly at: number }) => (
  <b>{at - now.value <= 0 ? 'now, in its turn' : `in ${span(at - now.value + 999)}`}</b>
);

function Actions({
  entry,
  onChanged,
}: {
  readonly entry: EntryDetail;
  readonly onChanged: () => void;
}) {
  const [busy, setBusy] = useState<EntryAction>();
  if (entry.actions.length === 0) return null;
  const main = entry.actions[0] === 'discard' ? undefined : entry.actions[0];
  const act = async (action: EntryAction) => {
    setBusy(action);
    await actOnOne({ action, ids: [entry.id] }, onChanged);
    setBusy(undefined);
  };
  return (
    <div class="message-actions">
      {entry.actions.map((action) => (
        <Button
          key={action}
          look={action === main ? 'primary' : 'plain'}
          icon={ACTION_ICONS[action]}
          busy={busy === action}
          disabled={busy !== undefined && busy !== action}
          title={ACTION_WORDS[action].consequence(false)}
          onClick={() => void act(action)}
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
