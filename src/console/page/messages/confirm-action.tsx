import { useState } from 'preact/hooks';
import type { EntryAction, EntryState } from '../../contract.ts';
import { plural } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ACTION_WORDS, leftAlone } from './actions.ts';

/** What is about to be done. */
export interface Intent {
  readonly action: EntryAction;
  /** How many messages are meant; `more`: at least. */
  readonly count: number;
  readonly more: boolean;
  /** Of those whose state is known. */
  readonly states: ReadonlyMap<EntryState, number>;
  /** By what they were found, in words; absent for picked ones. */
  readonly found?: string;
}

/** Says what will happen before it does. */
export function ConfirmAction(props: {
  readonly intent: Intent | undefined;
  readonly onClose: () => void;
  /** Resolves when it has begun. */
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
  const { affected, notes } = leftAlone(intent.action, intent.states);
  const n = intent.found === undefined ? affected : intent.count;
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
      {intent.found !== undefined && (
        <p class="muted">
          All that {intent.found} and arrived until now. Those whose state does not allow it are
          left as they are.
        </p>
      )}
      {intent.found === undefined && notes.length > 0 && (
        <p class="muted">Left as they are: {notes.join(', ')}.</p>
      )}
    </Dialog>
  );
}
