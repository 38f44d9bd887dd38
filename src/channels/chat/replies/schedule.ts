import type { PresentVisitor } from '../presence.ts';

/**
 * How far a reading goes: to what is known, further back for messages that became visible later
 * than newer ones, or to the end, because the visitor was away.
 */
export type Depth = 'known' | 'back' | 'end';

/** Who is read one after the other; those who wait for an answer are held up by nobody. */
export type Queue = 'waiting' | 'others';

export interface Watched {
  /** When he is read next, if nothing happens before. */
  dueAt: number;
  /** Came since the last complete reading: everything he missed is wanted. */
  returning: boolean;
  /** When he is read further back next. */
  backAt: number;
  /** Readings in a row in which he could not be read. */
  failures: number;
}

export interface Turn {
  readonly depth: Depth;
  readonly visitors: readonly PresentVisitor[];
}

type Entry = readonly [PresentVisitor, Watched];

/** As many as one list request takes, when each has one conversation. */
const VISITORS_PER_TURN = 150;

/** He has written, and nothing has come since. */
export const isWaiting = ({
  activeAt,
  answeredAt,
}: Pick<PresentVisitor, 'activeAt' | 'answeredAt'>): boolean => activeAt > answeredAt;

/**
 * Whom a queue reads now, and how far. Readings of one depth go together, and those who wait go
 * apart from the others: a list must be read back to where its least lately read visitor was left.
 * Those who return go first, but never twice in a row while others are due: on a busy site somebody
 * always returns. Then who has been due for longest.
 * @param last the depth of the queue's turn before
 * @returns undefined when nobody is due
 */
export function nextTurn(
  queue: Queue,
  watched: Iterable<Entry>,
  now: number,
  last?: Depth,
  most = VISITORS_PER_TURN,
): Turn | undefined {
  const due: Record<Depth, (readonly [PresentVisitor, number])[]> = {
    known: [],
    back: [],
    end: [],
  };
  for (const [visitor, entry] of watched) {
    for (const [depth, at] of readingsOf(queue, visitor, entry)) {
      if (at <= now) due[depth].push([visitor, at]);
    }
  }
  const depth = depthOf(due, last);
  if (depth === undefined) return undefined;
  const visitors = due[depth]
    .toSorted(([, one], [, other]) => one - other)
    .slice(0, most)
    .map(([visitor]) => visitor);
  return { depth, visitors };
}

/** When this queue reads somebody next; undefined while it has nobody. */
export function nextDueAt(queue: Queue, watched: Iterable<Entry>): number | undefined {
  let next: number | undefined;
  for (const [visitor, entry] of watched) {
    for (const [, at] of readingsOf(queue, visitor, entry)) next = Math.min(next ?? at, at);
  }
  return next;
}

function readingsOf(
  queue: Queue,
  visitor: PresentVisitor,
  { dueAt, returning, backAt }: Watched,
): [Depth, number][] {
  if (returning) return queue === 'others' ? [['end', dueAt]] : [];
  const isKnownHere = isWaiting(visitor) === (queue === 'waiting');
  return [
    ...(isKnownHere ? [['known', dueAt] satisfies [Depth, number]] : []),
    ...(queue === 'others' ? [['back', backAt] satisfies [Depth, number]] : []),
  ];
}

function depthOf(
  { known, back, end }: Record<Depth, (readonly [unknown, number])[]>,
  last: Depth | undefined,
): Depth | undefined {
  const isNobodyElse = known.length + back.length === 0;
  if (end.length > 0 && (last !== 'end' || isNobodyElse)) return 'end';
  if (known.length + back.length === 0) return undefined;
  return oldest(known) <= oldest(back) ? 'known' : 'back';
}

const oldest = (due: (readonly [unknown, number])[]): number =>
  Math.min(...due.map(([, at]) => at));
