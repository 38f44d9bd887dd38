import { useEffect, useState } from 'preact/hooks';
import type { EntryAction, EntryState } from '../../contract.ts';
import { count, plural } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Dialog } from '../ui/overlays.tsx';
import { ACTION_WORDS, predictEffect, MAX_IDS, resultLine, type Selection } from './actions.ts';
import { list } from './list-state.ts';
import { bulk, forgetBulk, resumeBulk, undoMany } from './acting.ts';

export const ACTION_ICONS: Readonly<Record<EntryAction, IconName>> = {
  retry: 'again',
  release: 'send',
  discard: 'discarded',
  restore: 'back',
};

/** The number of selected messages, their actions, and the button that selects all matches. */
export function SelectionBar(props: {
  readonly selection: Selection;
  readonly actions: readonly EntryAction[];
  readonly onAct: (action: EntryAction) => void;
  readonly onAll: () => void;
  readonly onNone: () => void;
}) {
  const { selection, actions, onAct, onAll, onNone } = props;
  const total = list.total.value;
  const all = total === undefined ? 'All' : `All ${totalWords(total)}`;
  const picked = selection.kind === 'all' ? 0 : selection.ids.size;
  const canPickAll =
    selection.kind === 'some' && (total === undefined || !total.exact || total.count > picked);
  return (
    <section class="selection" aria-label="Selection">
      <p role="status">
        <b>{selection.kind === 'all' ? `${all} that match` : `${count(picked)} selected`}</b>
        {picked === MAX_IDS && ' (maximum)'}
      </p>
      {canPickAll && (
        <Button size="small" look="quiet" onClick={onAll}>
          Select {all.toLowerCase()} that match
        </Button>
      )}
      <div class="selection-actions">
        {actions.length === 0 && <p class="muted">No action is possible.</p>}
        {actions.map((action) => (
          <Button
            key={action}
            size="small"
            icon={ACTION_ICONS[action]}
            onClick={() => onAct(action)}
          >
            {ACTION_WORDS[action].verb}
          </Button>
        ))}
        <Button
          size="small"
          look="quiet"
          icon="close"
          aria-label="Clear selection"
          onClick={onNone}
        />
      </div>
    </section>
  );
}

const totalWords = (total: { count: number; exact: boolean }): string =>
  `${count(total.count)}${total.exact ? '' : '+'}`;

/** The total in the page's heading. */
export const totalLine = (total: { count: number; exact: boolean }): string =>
  total.exact ? plural(total.count, 'message') : `${count(total.count)}+ messages`;

/** The progress of the bulk action, then its result with Undo. */
export function BulkPanel() {
  const progress = bulk.value;
  useEffect(() => void resumeBulk(), []);
  if (progress === undefined) return null;
  const { id, action, done, total, finished, refused, canUndo, undone } = progress;
  const words = ACTION_WORDS[action];
  const said = finished
    ? resultLine(progress)
    : `${undone ? 'Undoing' : words.doing} ${count(done)} of ${plural(total, 'message')}`;
  return (
    <section class="bulk" aria-label="Bulk action">
      <div class="bulk-line">
        {finished && <Icon name={refused.length === 0 ? 'ok' : 'info'} />}
        <p role="status">{said}</p>
        {finished && canUndo && !undone && (
          <Button size="small" onClick={() => void undoMany(id)}>
            Undo
          </Button>
        )}
        {finished && (
          <Button
            size="small"
            look="quiet"
            icon="close"
            aria-label="Dismiss"
            onClick={forgetBulk}
          />
        )}
      </div>
      {!finished && (
        <progress aria-label={words.doing} max={Math.max(1, total)} value={done}>
          {done}
        </progress>
      )}
      {refused.length > 0 && (
        <ul>
          {refused.map(({ why, count: n }) => (
            <li key={why}>
              {plural(n, 'message')}: {why}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** An action that awaits confirmation. */
export interface Intent {
  readonly action: EntryAction;
  /** The number of messages; with `more`, a lower bound. */
  readonly count: number;
  readonly more: boolean;
  /** The number of messages in each known state. */
  readonly states: ReadonlyMap<EntryState, number>;
  /** The filters in words; absent for selected messages. */
  readonly filters?: string;
}

/** Asks for confirmation and describes the effect. */
export function ConfirmAction(props: {
  readonly intent: Intent | undefined;
  readonly onClose: () => void;
  /** Resolves when the action has started. */
  readonly onConfirm: (intent: Intent) => Promise<void>;
}) {
  const { intent, onClose, onConfirm } = props;
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    if (intent === undefined) return;
    setBusy(true);
    await onConfirm(intent);
    setBusy(false);
  };
  if (intent === undefined)
    return <Dialog open={false} title="" onClose={onClose} children={null} />;
  const words = ACTION_WORDS[intent.action];
  const { affected, notes } = predictEffect(intent.action, intent.states);
  const n = intent.filters === undefined ? affected : intent.count;
  const number = `${plural(n, 'message')}${intent.more ? ' or more' : ''}`;
  return (
    <Dialog
      open
      title={`${words.verb} ${number}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={intent.action === 'discard' ? 'danger' : 'primary'}
            busy={isBusy}
            disabled={n === 0}
            autoFocus
            onClick={() => void confirm()}
          >
            {words.verb} {number}
          </Button>
        </>
      }
    >
      <p>{words.consequence(n !== 1)}</p>
      {intent.filters !== undefined && (
        <p class="muted">
          Applies to all messages that {intent.filters}, up to now. Messages in other states are not
          changed.
        </p>
      )}
      {intent.filters === undefined && notes.length > 0 && (
        <p class="muted">Not changed: {notes.join(', ')}.</p>
      )}
    </Dialog>
  );
}
