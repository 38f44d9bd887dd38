import type { PresentVisitor } from '../presence.ts';

export type Urgency = Pick<PresentVisitor, 'activeAt' | 'answeredAt'>;

/** As many as one list request takes, when each has one conversation. */
const VISITORS_PER_TURN = 150;

/** He has written, and nothing has come since. */
export const isWaiting = ({ activeAt, answeredAt }: Urgency): boolean => activeAt > answeredAt;

/**
 * Who is read in this turn of those that are due: first who waits for an answer, then who has gone
 * longest without a look. The requests are few (§ Replies: about one a second), and a thousand open
 * tabs must not stand before the hundred who wait; with fewer than that, a turn takes everyone.
 */
export function inTurn<Watch extends { readonly dueAt: number }>(
  due: readonly [PresentVisitor, Watch][],
  most = VISITORS_PER_TURN,
): [PresentVisitor, Watch][] {
  return due
    .toSorted(
      ([one, { dueAt }], [other, { dueAt: otherDueAt }]) =>
        Number(isWaiting(other)) - Number(isWaiting(one)) || dueAt - otherDueAt,
    )
    .slice(0, most);
}
