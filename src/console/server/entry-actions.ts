import type { EntryState } from '../../spool/entry.ts';
import type { EntryAction } from '../contract.ts';

/** From which states an operator may do what (`spool/entry.ts`). */
const FROM: Readonly<Record<EntryAction, readonly EntryState[]>> = {
  // `queued`: a message that waits for its next attempt goes at once.
  retry: ['dead', 'queued'],
  release: ['held', 'suppressed'],
  discard: ['queued', 'dead', 'held', 'suppressed'],
  restore: ['discarded'],
};
const ALL: readonly EntryAction[] = ['retry', 'release', 'discard', 'restore'];

export const isAllowed = (action: EntryAction, state: EntryState): boolean =>
  FROM[action].includes(state);

/** What may be done with an entry now: nothing without its raw form. */
export function actionsOf(state: EntryState, rawKept: boolean): readonly EntryAction[] {
  return rawKept ? ALL.filter((action) => isAllowed(action, state)) : [];
}
