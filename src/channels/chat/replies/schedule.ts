import type { VisitorId } from '../../../domain/ids.ts';
import type { WatchedConversation } from '../../../spool/chat-store.ts';
import type { PresentVisitor } from '../visitors.ts';

/** Decides which visitors are read, how far, in which requests, and when again. */

/**
 * How far a read goes: to known messages, further back for messages that became visible later than
 * newer ones, or to the end because the visitor was away.
 */
export type Depth = 'known' | 'back' | 'end';

/** Each queue reads its visitors in turns; waiting visitors have a separate queue. */
export type Queue = 'waiting' | 'others';

export interface Watched {
  /** When their conversations are read next, unless something happens earlier. */
  dueAt: number;
  /** They arrived after the last complete read, so everything they missed is read. */
  returning: boolean;
  /** When their conversations are next read further back. */
  backAt: number;
  /** Consecutive failed reads for them. */
  failures: number;
}

export interface Turn {
  readonly depth: Depth;
  readonly visitors: readonly PresentVisitor[];
}

type Entry = readonly [PresentVisitor, Watched];

/** As many as fit into one list request if each has one conversation. */
const VISITORS_PER_TURN = 150;

/** They have written, and no reply has arrived since. */
export const isWaiting = ({
  activeAt,
  answeredAt,
}: Pick<PresentVisitor, 'activeAt' | 'answeredAt'>): boolean => activeAt > answeredAt;

/**
 * Selects whom a queue reads now, and how far. Reads of the same depth are combined, and waiting
 * visitors are read separately from the others, because a list has to be read back to the point of
 * its least recently read visitor. Returning visitors come first, but not twice in a row while
 * others are due, since a busy site always has returning visitors. Otherwise, the longest due come
 * first.
 * @param last the depth of the queue's previous turn
 * @returns undefined if nobody is due
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

/** When this queue has its next turn; undefined without visitors. */
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

/** Common servers refuse longer URLs. */
const MAX_CONVERSATIONS = 150;

/** The conversations of one list request, and those that each need a separate request. */
export interface Batch {
  readonly together: readonly WatchedConversation[];
  readonly alone: readonly WatchedConversation[];
}

/**
 * Divides conversations among list requests. Those of one visitor stay together: replies are
 * numbered in the order in which they were written, which is known only when all were read. A
 * visitor with a conversation that is read alone does not delay others: they have a separate batch,
 * after the others.
 * @param isLong whether a conversation's list is longer than one read
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
/** For this long after the last activity, a reply is expected at any moment. */
const WAITING_MS = 2 * 60_000;

/** An agent who has replied may write again. */
const FOLLOW_UP_MS = 60_000;
const ANSWERED_MS = 5_000;

/**
 * How long to wait before a visitor's conversations are read again: a second while they wait for a
 * reply, a few seconds once they have it, then increasing up to 15 s after half an hour.
 * @param quietMs since the visitor wrote, arrived or was answered
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

/** How long to pause requests to a shop's platform after this many consecutive failures. */
export function backoffMs(failures: number): number {
  return Math.min(30_000, FASTEST_MS * 2 ** Math.min(failures - 1, 10));
}
