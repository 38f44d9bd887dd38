/**
 * The states of an entry.
 *
 * ```
 *            accept                    claim
 *      (door) ────▶ queued ──────────────────────▶ delivering
 *      │               ▲  retry later, lease ran out   │
 *      │               └───────────────────────────────┤
 *      │ accept with hold                              ├──▶ delivered   the platform has it
 *      └──────────────▶ held ◀─────────────────────────┤    dead        needs an operator
 *                       │ release ▶ queued             └──▶ suppressed  kept, not submitted
 *                       └ discard ▶ discarded
 * ```
 */
export const ENTRY_STATES = [
  'queued',
  'delivering',
  'delivered',
  'dead',
  'held',
  'suppressed',
  'discarded',
] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/**
 * The states from which an operator may move an entry whose raw form is kept. `retry` and `release`
 * return it to `queued`, due at once; `restore` returns it to its state before `discard`.
 */
export const OPERATOR_MOVES = {
  retry: ['dead', 'queued'],
  release: ['held', 'suppressed'],
  discard: ['queued', 'dead', 'held', 'suppressed'],
  restore: ['discarded'],
} as const satisfies Readonly<Record<string, readonly EntryState[]>>;
export type OperatorMove = keyof typeof OPERATOR_MOVES;

/** Whether an operator may make this move from this state. */
export function isMoveAllowed(move: OperatorMove, state: EntryState): boolean {
  const from: readonly EntryState[] = OPERATOR_MOVES[move];
  return from.includes(state);
}

/** The moves that an operator may make; none after the raw form was swept. */
export function movesOf(state: EntryState, rawKept: boolean): readonly OperatorMove[] {
  if (!rawKept) return [];
  const moves: readonly OperatorMove[] = ['retry', 'release', 'discard', 'restore'];
  return moves.filter((move) => isMoveAllowed(move, state));
}
