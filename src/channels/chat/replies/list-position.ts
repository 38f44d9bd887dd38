import type { Message } from '../../../platform-api/resources.ts';
import { backoffMs } from './schedule.ts';
import { createdAt, isNewestFirst, isOldestFirst } from './platform-message.ts';

/**
 * How far the list of one conversation was read that is longer than one reading. A list that is
 * sorted oldest first grows at its end alone: once that is reached, its last pages are all that is
 * read again. One that is sorted newest first is read back to its end once.
 * One without an order is read from its beginning, over and over.
 */
export interface ListPosition {
  /** Of the page to go on with; undefined: the first one. */
  readonly cursor: string | undefined;
  /** Of the page before that one, for messages that become visible later than newer ones. */
  readonly before: string | undefined;
  readonly isAtEnd: boolean;
  readonly isOldestFirst: boolean;
  readonly isNewestFirst: boolean;
  /** Up to when its messages were read, by the platform's clock, while it is unfinished. */
  readonly readTo: number | undefined;
  /** Readings in which the cursor was refused since it last led on: it may have ended. */
  readonly refusals: number;
  /** Readings in a row that have failed here, for whatever reason. */
  readonly failures: number;
  /** It is left alone until then. */
  readonly quietUntil: number;
  /** A cursor that was passed, to see by it that the list goes round. */
  readonly mark: Mark | undefined;
}

/** Moved on after twice as many readings each time, so that it lies in every circle at last. */
interface Mark {
  readonly cursor: string;
  readonly readings: number;
  readonly most: number;
}

/** Pages that were read one after the other. */
export interface Pages {
  readonly messages: readonly Message[];
  /** By which each of them was asked for. */
  readonly cursors: readonly (string | undefined)[];
  /** Of the page behind them; undefined when there is none. */
  readonly next: string | undefined;
}

/** Where the reading goes on that has read these pages, the first ones or those from `place` on. */
export function positionAfter(pages: Pages, place?: ListPosition): ListPosition {
  const { messages, cursors } = pages;
  const isRound = goesRound(pages, place?.mark);
  const isSorted = !isRound && isOldestFirst(messages) && place?.isOldestFirst !== false;
  const last = cursors.at(-1);
  const next = isRound ? undefined : pages.next;
  const common = {
    isOldestFirst: isSorted,
    isNewestFirst: place === undefined ? isNewestFirst(messages) : place.isNewestFirst,
    readTo: undefined,
    refusals: 0,
    failures: 0,
    quietUntil: 0,
    mark: undefined,
  };
  if (next !== undefined) {
    const lastMessage = messages.at(-1);
    const readTo = isSorted
      ? ((lastMessage && createdAt(lastMessage)) ?? place?.readTo)
      : undefined;
    const mark = markAfter(next, place?.mark);
    return { ...common, cursor: next, before: last, isAtEnd: false, readTo, mark };
  }
  if (!isSorted) return { ...common, cursor: undefined, before: undefined, isAtEnd: true };
  const before = cursors.length > 1 ? cursors.at(-2) : place?.before;
  return { ...common, cursor: last, before, isAtEnd: true };
}

/** Whether these pages have come back to the mark (Brent's way to find a circle). */
function goesRound({ cursors, next }: Pages, mark: Mark | undefined): boolean {
  if (mark === undefined) return false;
  // The first of them is where the reading before has ended, which may be the mark itself.
  return next === mark.cursor || cursors.slice(1).includes(mark.cursor);
}

function markAfter(next: string, mark: Mark | undefined): Mark {
  if (mark === undefined) return { cursor: next, readings: 0, most: 1 };
  const readings = mark.readings + 1;
  if (readings < mark.most) return { ...mark, readings };
  return { cursor: next, readings: 0, most: mark.most * 2 };
}

/** More of them are forgotten; a list whose place is forgotten is read from its beginning. */
const MAX_POSITIONS = 1_000;
const MAX_REFUSALS = 3;

/** The places in all lists of a shop that are longer than one reading, used or not. */
export class ListPositions {
  readonly #positions = new Map<string, ListPosition>();

  get(conversationId: string): ListPosition | undefined {
    return this.#positions.get(conversationId);
  }

  set(conversationId: string, place: ListPosition): void {
    this.#positions.delete(conversationId);
    this.#positions.set(conversationId, place);
    const [oldest] = this.#positions.keys();
    if (this.#positions.size > MAX_POSITIONS && oldest !== undefined)
      this.#positions.delete(oldest);
  }

  /** It is read as short lists are, from now on. */
  delete(conversationId: string): void {
    this.#positions.delete(conversationId);
  }

  /**
   * Leaves the list alone for a while, longer each time. A place whose cursor is refused a few times
   * in a row is given up; an outage says nothing of it.
   */
  failed(conversationId: string, isRefused: boolean, now: number): void {
    const place = this.#positions.get(conversationId);
    if (place === undefined) return;
    const failures = place.failures + 1;
    const refusals = place.refusals + (isRefused ? 1 : 0);
    const quietUntil = now + backoffMs(failures);
    if (refusals < MAX_REFUSALS) {
      this.#positions.set(conversationId, { ...place, failures, refusals, quietUntil });
    } else this.#positions.delete(conversationId);
  }
}
