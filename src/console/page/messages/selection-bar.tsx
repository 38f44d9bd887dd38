import type { EntryAction } from '../../contract.ts';
import { count, plural } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import type { IconName } from '../ui/icon.tsx';
import { ACTION_WORDS } from './action-words.ts';
import { list } from './list-state.ts';
import { MOST_IDS, type Selection } from './selection.ts';

export const ACTION_ICONS: Readonly<Record<EntryAction, IconName>> = {
  retry: 'again',
  release: 'send',
  discard: 'discarded',
  restore: 'back',
};

/** How many are picked, what can be done with them, and the way to pick all that were found. */
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
        {picked === MOST_IDS && ' (no more at once)'}
      </p>
      {canPickAll && (
        <Button size="small" look="quiet" onClick={onAll}>
          Select {all.toLowerCase()} that match
        </Button>
      )}
      <div class="selection-actions">
        {actions.length === 0 && <p class="muted">Nothing can be done with these.</p>}
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

export const totalWords = (total: { count: number; exact: boolean }): string =>
  `${count(total.count)}${total.exact ? '' : '+'}`;

/** For the heading of the page. */
export const totalLine = (total: { count: number; exact: boolean }): string =>
  total.exact ? plural(total.count, 'message') : `${count(total.count)}+ messages`;
