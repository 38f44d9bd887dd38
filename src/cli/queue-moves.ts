import type { Entry } from '../spool/entry.ts';
import { type EntryState, OPERATOR_MOVES, type OperatorMove } from '../domain/entry-state.ts';
import type { EntryId } from '../domain/ids.ts';
import type { Reason } from '../domain/reasons.ts';
import type { OpenSpool } from './open-spool.ts';

/** What an operator can do with an entry. */
export interface Move {
  readonly name: OperatorMove | 'undo';
  /** The states from which it moves an entry. */
  readonly from: readonly EntryState[];
  readonly done: string;
  /** A condition that a dry run cannot check. */
  readonly provided?: string;
  /** Why it fails in one of these states. */
  readonly failed: string;
  readonly description: string;
  /** The states that --all selects without --state; without a default, --state is required. */
  readonly usual?: readonly EntryState[];
  readonly undoneBy?: 'undo' | 'restore';
  readonly apply: (
    open: Pick<OpenSpool, 'spool' | 'operator' | 'who'>,
    id: EntryId,
  ) => Promise<boolean>;
}

const CHANGED = 'its state has changed, or it was swept';

export const MOVES: readonly Move[] = [
  {
    name: 'retry',
    from: OPERATOR_MOVES.retry,
    failed: CHANGED,
    undoneBy: 'undo',
    done: 'retried now',
    description: 'retries dead or waiting entries now',
    usual: ['dead'],
    apply: ({ spool, who }, id) => spool.requeue(id, who),
  },
  {
    name: 'release',
    from: OPERATOR_MOVES.release,
    failed: CHANGED,
    undoneBy: 'undo',
    done: 'released',
    description: 'delivers held or suppressed entries',
    usual: ['held'],
    apply: ({ spool, who }, id) => spool.requeue(id, who),
  },
  {
    name: 'discard',
    from: OPERATOR_MOVES.discard,
    failed: CHANGED,
    undoneBy: 'restore',
    done: 'discarded',
    description: 'discards undelivered entries; they stay visible',
    apply: ({ spool, who }, id) => spool.discard(id, who),
  },
  {
    name: 'restore',
    from: OPERATOR_MOVES.restore,
    failed: CHANGED,
    done: 'restored',
    description: 'undoes a discard: entries return to their earlier state',
    usual: ['discarded'],
    apply: ({ operator, who }, id) => operator.restore(id, who),
  },
  {
    name: 'undo',
    from: ['queued'],
    failed: 'there is nothing to undo: it waited before, or an attempt has started',
    done: 'taken back',
    provided: ', unless it waited before or an attempt has started',
    description: 'undoes a retry or release: entries return to their earlier state',
    usual: ['queued'],
    apply: ({ operator, who }, id) => operator.takeBack(id, who),
  },
];

export interface Moved {
  readonly id: string;
  readonly ok: boolean;
  readonly result: string;
  /** By the move's `undoneBy`. */
  readonly canUndo: boolean;
  /** The entry's reason before the move: why it was dead or held. */
  readonly reason?: Reason;
}

/** Why an entry cannot be moved; undefined if its state allows the move. */
export function refusalOf(move: Move, entry: Pick<Entry, 'state'> | undefined): string | undefined {
  if (entry === undefined) return 'the entry does not exist';
  if (move.from.includes(entry.state)) return undefined;
  return `is ${entry.state}; ${move.name} is for ${move.from.join(', ')}`;
}

/** Moves one entry if its state allows the move. */
export async function moveEntry(
  open: Pick<OpenSpool, 'spool' | 'operator' | 'who'>,
  move: Move,
  id: EntryId,
  entry: Entry | undefined,
): Promise<Moved> {
  const reason = entry?.reason;
  const why = reason === undefined ? {} : { reason };
  const refusal = refusalOf(move, entry);
  if (refusal !== undefined) return { id, ok: false, canUndo: false, result: refusal, ...why };
  // False if the entry changed meanwhile, or its raw form has been swept.
  const ok = await move.apply(open, id);
  const result = ok ? move.done : `could not be changed: ${move.failed}`;
  const waited = move.undoneBy === 'undo' && entry?.state === 'queued';
  return { id, ok, canUndo: ok && move.undoneBy !== undefined && !waited, result, ...why };
}
