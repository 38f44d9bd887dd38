import type { PresentVisitor } from '../presence.ts';

export type Urgency = Pick<PresentVisitor, 'activeAt' | 'answeredAt'>;

/** As many as one list request takes, when each has one conversation. */
const VISITORS_PER_TURN = 150;

/** He has written, and nothing has come since. */
export const isWaiting = ({ activeAt, answeredAt }: Urgency): boolean => activeAt > answeredAt;

/**
 * Who is read in this turn of those that are due: all who wait for an answer, or when none of them
 * is due who has gone longest without a look. Apart, because a list must be read back to where its
 * least lately read visitor was left: those who wait were read a second ago, and need one page.
 */
export function inTurn<Watch extends { readonly dueAt: number }>(
  due: readonly [PresentVisitor, Watch][],
  most = VISITORS_PER_TURN,
): [PresentVisitor, Watch][] {
  const waiting = due.filter(([visitor]) => isWaiting(visitor));
  return (waiting.length > 0 ? waiting : due)
    .toSorted(([, one], [, other]) => one.dueAt - other.dueAt)
    .slice(0, most);
}
