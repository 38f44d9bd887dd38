import { setLatest } from '../../../runtime/keep-latest.ts';
import type { Message } from '../../../platform-api/resources.ts';
import { backoffMs } from './schedule.ts';
import { isNewestFirst, isOldestFirst, listTimes } from './platform-message.ts';

/**
 * How far a conversation's list was read that is longer than one read. An oldest-first list grows
 * only at its end: once the end is reached, only its last pages are read again. A newest-first list
 * is read back to its end once. A list without an order is read from its beginning repeatedly.
 */
export interface ListPosition {
  /** The page to continue with; undefined for the first one. */
  readonly cursor: string | undefined;
  /** The page before that one, for messages that become visible later than newer ones. */
  readonly before: string | undefined;
  readonly isAtEnd: boolean;
  readonly isOldestFirst: boolean;
  readonly isNewestFirst: boolean;
  /** Up to when its messages were read, by the platform's clock, while it is unfinished. */
  readonly readTo: number | undefined;
  /** Reads in which the cursor was refused since it last worked; it may have expired. */
  readonly refusals: number;
  /** Consecutive reads that failed here, for any reason. */
  readonly failures: number;
  /** The list is not read until then. */
  readonly pausedUntil: number;
  /** A cursor that was seen before, which detects a cycle in the list. */
  readonly mark: Mark | undefined;
}

/** Moved after twice as many reads each time, so that it eventually lies in any cycle. */
interface Mark {
  readonly cursor: string;
  readonly readings: number;
  readonly most: number;
}

/** Pages that were read one after the other. */
export interface Pages {
  readonly messages: readonly Message[];
  /** The cursors with which they were requested. */
  readonly cursors: readonly (string | undefined)[];
  /** The cursor of the following page; undefined at the end. */
  readonly next: string | undefined;
}

/** The position after these pages, which are the first ones or those from `place` on. */
export function positionAfter(pages: Pages, place?: ListPosition): ListPosition {
  const { messages, cursors } = pages;
  const isRound = hasCycle(pages, place?.mark);
  const isSorted = !isRound && isOldestFirst(messages) && place?.isOldestFirst !== false;
  const last = cursors.at(-1);
  const next = isRound ? undefined : pages.next;
  const common = {
    isOldestFirst: isSorted,
    isNewestFirst: place === undefined ? isNewestFirst(messages) : place.isNewestFirst,
    readTo: undefined,
    refusals: 0,
    failures: 0,
    pausedUntil: 0,
    mark: undefined,
  };
  if (next !== undefined) {
    const readTo = isSorted ? (listTimes(messages).at(-1) ?? place?.readTo) : undefined;
    const mark = markAfter(next, place?.mark);
    return { ...common, cursor: next, before: last, isAtEnd: false, readTo, mark };
  }
  if (!isSorted) return { ...common, cursor: undefined, before: undefined, isAtEnd: true };
  const before = cursors.length > 1 ? cursors.at(-2) : place?.before;
  return { ...common, cursor: last, before, isAtEnd: true };
}

/** Whether these pages have returned to the mark (Brent's cycle detection). */
function hasCycle({ cursors, next }: Pages, mark: Mark | undefined): boolean {
  if (mark === undefined) return false;
  // The first cursor is the end of the previous read, which may be the mark itself.
  return next === mark.cursor || cursors.slice(1).includes(mark.cursor);
}

function markAfter(next: string, mark: Mark | undefined): Mark {
  if (mark === undefined) return { cursor: next, readings: 0, most: 1 };
  const readings = mark.readings + 1;
  if (readings < mark.most) return { ...mark, readings };
  return { cursor: next, readings: 0, most: mark.most * 2 };
}

/** Beyond this number positions are dropped; such a list is read from its beginning again. */
const MAX_POSITIONS = 1_000;
const MAX_REFUSALS = 3;

/** The positions in all lists of a shop that are longer than one read. */
export class ListPositions {
  readonly #positions = new Map<string, ListPosition>();

  get(conversationId: string): ListPosition | undefined {
    return this.#positions.get(conversationId);
  }

  set(conversationId: string, place: ListPosition): void {
    setLatest(this.#positions, conversationId, place, MAX_POSITIONS);
  }

  /** From now on it is read like short lists. */
  delete(conversationId: string): void {
    this.#positions.delete(conversationId);
  }

  /**
   * Pauses the list, longer each time. A position whose cursor is refused several times in a row is
   * dropped; outages do not count.
   */
  failed(conversationId: string, isRefused: boolean, now: number): void {
    const place = this.#positions.get(conversationId);
    if (place === undefined) return;
    const failures = place.failures + 1;
    const refusals = place.refusals + (isRefused ? 1 : 0);
    const pausedUntil = now + backoffMs(failures);
    if (refusals < MAX_REFUSALS) {
      this.#positions.set(conversationId, { ...place, failures, refusals, pausedUntil });
    } else this.#positions.delete(conversationId);
  }
}
