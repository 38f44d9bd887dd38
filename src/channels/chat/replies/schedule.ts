import type { VisitorId } from '../../../domain/ids.ts';
import type { WatchedConversation } from '../../../spool/chat-store.ts';
import type { PresentVisitor } from '../visitors.ts';

/** Whom to read now, how far, in which requests, and when again. */

/**
 * How far a reading goes: to what is known, further back for messages that became visible later
 * than newer ones, or to the end, because the visitor was away.
 */
export type Depth = 'known' | 'back' | 'end';

/** Each queue reads its visitors one turn after the other; waiting visitors have their own. */
export type Queue = 'waiting' | 'others';

export interface Watched {
  /** When their conversations are read next, if nothing happens before. */
  dueAt: number;
  /** They came since the last complete reading: everything they missed is wanted. */
  returning: boolean;
  /** When their conversations are read further back next. */
  backAt: number;
  /** Readings in a row that failed for them. */
  failures: number;
}

export interface Turn {
  readonly depth: Depth;
  readonly visitors: readonly PresentVisitor[];
}

type Entry = readonly [PresentVisitor, Watched];

/** As many as one list request takes, when each has one conversation. */
const VISITORS_PER_TURN = 150;

/** They have written, and no reply has come since. */
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

/** When this queue has its next turn; undefined while it has no visitors. */
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

/** Longer URLs are refused by common servers. */
const MAX_CONVERSATIONS = 150;

/** The conversations of one list request, and those that each need a request of their own. */
export interface Batch {
  readonly together: readonly WatchedConversation[];
  readonly alone: readonly WatchedConversation[];
}

/**
 * Divides conversations among list requests. Those of one visitor stay together: their replies are
 * numbered in the order in which they were written, and that shows only when all are there. A
 * visitor with a conversation that is read alone delays no other visitor: they have their own batch,
 * behind the others.
 * @param isLong whether a conversation's list is longer than one reading
 */
export function batchesOf(
  watched: readonly WatchedConversation[],
  isLong: (conversation: WatchedConversation) => boolean,
  most = MAX_CONVERSATIONS,
): Batch[] {
  const byVisitor = new Map<VisitorId, WatchedConversation[]>();
  for (const conversation of watched) {
    const own = byVisitor.get(conversation.visitorId) ?? [];
    byVisitor.set(conversation.visitorId, [...own, conversation]);
  }
  const shared: WatchedConversation[][] = [];
  const apart: Batch[] = [];
  for (const own of byVisitor.values()) {
    const alone = own.filter(isLong);
    const last = shared.at(-1);
    if (alone.length > 0 || own.length > most) {
      apart.push(...ofOne(own, alone, most));
    } else if (last === undefined || last.length + own.length > most) {
      shared.push([...own]);
    } else {
      last.push(...own);
    }
  }
  return [...shared.map((together) => ({ together, alone: [] })), ...apart];
}

function ofOne(
  own: readonly WatchedConversation[],
  alone: readonly WatchedConversation[],
  most: number,
): Batch[] {
  const together = own.filter((each) => !alone.includes(each));
  const batches: Batch[] = [{ together: together.slice(0, most), alone }];
  for (let start = most; start < together.length; start += most) {
    batches.push({ together: together.slice(start, start + most), alone: [] });
  }
  return batches;
}

export const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
/** For this long after the last sign of life an answer is expected at any moment. */
const WAITING_MS = 2 * 60_000;

/** An agent who has answered may say a second thing. */
const FOLLOW_UP_MS = 60_000;
const ANSWERED_MS = 5_000;

/**
 * How long to wait before a visitor's conversations are read again: a second while they wait for an
 * answer, a few once they have it, then longer and longer, up to 15 s after half an hour.
 * @param quietMs since the visitor wrote, came or was answered
 * @param isAnswered nothing was written since the last reply
 */
export function pollIntervalMs(
  quietMs: number,
  fastestMs = FASTEST_MS,
  isAnswered = false,
): number {
  const shortest =
    isAnswered && quietMs > FOLLOW_UP_MS ? (fastestMs * ANSWERED_MS) / FASTEST_MS : fastestMs;
  if (quietMs <= WAITING_MS) return shortest;
  const growing = Math.max(shortest, Math.round((fastestMs * quietMs) / WAITING_MS));
  return Math.min(SLOWEST_MS, growing);
}

/** How long to pause requests to a shop's platform after this many failures in a row. */
export function backoffMs(failures: number): number {
  return Math.min(30_000, FASTEST_MS * 2 ** Math.min(failures - 1, 10));
}
