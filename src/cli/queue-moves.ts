import type { Entry } from '../spool/entry.ts';
import {
  type EntryState,
  isMoveAllowed,
  OPERATOR_MOVES,
  type OperatorMove,
} from '../domain/entry-state.ts';
import type { EntryId } from '../domain/ids.ts';
import type { OpenSpool } from './open-spool.ts';

/** What an operator may do with an entry. */
export interface Move {
  readonly name: OperatorMove;
  readonly done: string;
  readonly description: string;
  /** What --all means without --state; without it --state has to be given. */
  readonly usual?: readonly EntryState[];
  readonly apply: (open: Pick<OpenSpool, 'spool' | 'operator'>, id: EntryId) => Promise<boolean>;
}

export const MOVES: readonly Move[] = [
  {
    name: 'retry',
    done: 'retried now',
    description: 'tries dead or waiting entries again, at once',
    usual: ['dead'],
    apply: ({ spool }, id) => spool.requeue(id),
  },
  {
    name: 'release',
    done: 'released',
    description: 'lets held or suppressed entries go out as usual',
    usual: ['held'],
    apply: ({ spool }, id) => spool.requeue(id),
  },
  {
    name: 'discard',
    done: 'discarded',
    description: 'gives up entries that are not delivered; they stay visible',
    apply: ({ spool }, id) => spool.discard(id),
  },
  {
    name: 'restore',
    done: 'restored',
    description: 'takes a discard back: entries are what they were before it',
    usual: ['discarded'],
    apply: ({ operator }, id) => operator.restore(id),
  },
];

export interface Moved {
  readonly id: string;
  readonly ok: boolean;
  readonly result: string;
  /** The entry's own reason before it was moved: why it was dead or held. */
  readonly reason?: string;
}

/** Moves one entry, if it is in a state that the move is meant for. */
export async function moveEntry(
  open: Pick<OpenSpool, 'spool' | 'operator'>,
  move: Move,
  id: EntryId,
  entry: Entry | undefined,
): Promise<Moved> {
  if (entry === undefined) return { id, ok: false, result: 'there is no such entry' };
  const { state, reason } = entry;
  const why = reason === undefined ? {} : { reason };
  if (!isMoveAllowed(move.name, state)) {
    const meant = OPERATOR_MOVES[move.name].join(', ');
    return { id, ok: false, result: `is ${state}; ${move.name} is for ${meant}`, ...why };
  }
  // False when the entry moved on meanwhile, or its raw form has been swept.
  const ok = await move.apply(open, id);
  const result = ok ? move.done : 'could not be changed: it moved on, or is swept';
  return { id, ok, result, ...why };
}
