import type { Message } from '../../../platform-api/resources.ts';
import { isOldestFirst } from './reply-order.ts';

/**
 * How far the list of one conversation was read that is longer than one reading. A list that is
 * sorted oldest first grows at its end alone: once that is reached, its last pages are all that is
 * read again. One without an order is read from its beginning, over and over.
 */
export interface Place {
  /** Of the page to go on with; undefined: the first one. */
  readonly cursor: string | undefined;
  /** Of the page before that one, for messages that become visible later than newer ones. */
  readonly before: string | undefined;
  readonly isAtEnd: boolean;
  readonly isOldestFirst: boolean;
  /** Readings in a row that have failed here: a cursor may have ended. */
  readonly failures: number;
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
export function placeAfter({ messages, cursors, next }: Pages, place?: Place): Place {
  const isSorted = isOldestFirst(messages) && place?.isOldestFirst !== false;
  const last = cursors.at(-1);
  const common = { isOldestFirst: isSorted, failures: 0 };
  if (next !== undefined) return { ...common, cursor: next, before: last, isAtEnd: false };
  if (!isSorted) return { ...common, cursor: undefined, before: undefined, isAtEnd: true };
  const before = cursors.length > 1 ? cursors.at(-2) : place?.before;
  return { ...common, cursor: last, before, isAtEnd: true };
}

/** More of them are forgotten; a list whose place is forgotten is read from its beginning. */
const MAX_PLACES = 1_000;
const MAX_FAILURES = 3;

/** The places in all lists of a shop that are longer than one reading, used or not. */
export class Places {
  readonly #places = new Map<string, Place>();

  get(conversationId: string): Place | undefined {
    return this.#places.get(conversationId);
  }

  set(conversationId: string, place: Place): void {
    this.#places.delete(conversationId);
    this.#places.set(conversationId, place);
    const [oldest] = this.#places.keys();
    if (this.#places.size > MAX_PLACES && oldest !== undefined) this.#places.delete(oldest);
  }

  /** After a few times in a row the place is given up. */
  failed(conversationId: string): void {
    const place = this.#places.get(conversationId);
    if (place === undefined) return;
    const failures = place.failures + 1;
    if (failures < MAX_FAILURES) this.#places.set(conversationId, { ...place, failures });
    else this.#places.delete(conversationId);
  }
}
