import type { Entry } from '../spool/entry.ts';
import {
  type EntryState,
  isMoveAllowed,
  OPERATOR_MOVES,
  type OperatorMove,
} from '../domain/entry-state.ts';
import type { EntryId } from '../domain/ids.ts';
import type { Reason } from '../domain/reasons.ts';
import type { OpenSpool } from './open-spool.ts';

/** What an operator can do with an entry. */
export interface Move {
  readonly name: OperatorMove;
  readonly done: string;
  readonly description: string;
  /** The states that --all selects without --state; without a default, --state is required. */
  readonly usual?: readonly EntryState[];
  readonly apply: (
    open: Pick<OpenSpool, 'spool' | 'operator' | 'who'>,
    id: EntryId,
  ) => Promise<boolean>;
}

export const MOVES: readonly Move[] = [
  {
    name: 'retry',
    done: 'retried now',
    description: 'retries dead or waiting entries now',
    usual: ['dead'],
    apply: ({ spool, who }, id) => spool.requeue(id, who),
  },
  {
    name: 'release',
    done: 'released',
    description: 'delivers held or suppressed entries',
    usual: ['held'],
    apply: ({ spool, who }, id) => spool.requeue(id, who),
  },
  {
    name: 'discard',
    done: 'discarded',
    description: 'discards undelivered entries; they stay visible',
    apply: ({ spool, who }, id) => spool.discard(id, who),
  },
  {
    name: 'restore',
    done: 'restored',
    description: 'undoes a discard: entries return to their earlier state',
    usual: ['discarded'],
    apply: ({ operator, who }, id) => operator.restore(id, who),
  },
];

export interface Moved {
  readonly id: string;
  readonly ok: boolean;
  readonly result: string;
  /** The entry's reason before the move: why it was dead or held. */
  readonly reason?: Reason;
}

/** Why an entry cannot be moved; undefined if its state allows the move. */
export function refusalOf(move: Move, entry: Pick<Entry, 'state'> | undefined): string | undefined {
  if (entry === undefined) return 'the entry does not exist';
  if (isMoveAllowed(move.name, entry.state)) return undefined;
  return `is ${entry.state}; ${move.name} is for ${OPERATOR_MOVES[move.name].join(', ')}`;
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
  if (refusal !== undefined) return { id, ok: false, result: refusal, ...why };
  // False if the entry changed meanwhile, or its raw form has been swept.
  const ok = await move.apply(open, id);
  const result = ok ? move.done : 'could not be changed: its state has changed, or it was swept';
  return { id, ok, result, ...why };
}
