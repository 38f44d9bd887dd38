import { ApiError } from '../api-error.ts';

/** The lists that have pages. */
export type ListName = 'tickets' | 'messages' | 'contacts';

/** Where a page begins: on one side of a row, which is not on the page itself. */
export interface Cursor {
  readonly side: 'older' | 'newer';
  readonly seq: number;
}

/** A cursor as clients see it: opaque, and of one list only (API §2.6). */
export function formatCursor(list: ListName, { side, seq }: Cursor): string {
  return Buffer.from(`${list}:${side}:${seq}`).toString('base64url');
}

/** @throws {ApiError} 400 for anything that `formatCursor` has not made for this list */
export function parseCursor(list: ListName, text: string): Cursor {
  const [name, side, digits = ''] = Buffer.from(text, 'base64url').toString('latin1').split(':');
  if (name === list && (side === 'older' || side === 'newer') && /^\d{1,15}$/.test(digits)) {
    const cursor: Cursor = { side, seq: Number(digits) };
    // Decoding is lenient; only the one way of writing it counts.
    if (formatCursor(list, cursor) === text) return cursor;
  }
  throw new ApiError(400, 'the request is not valid', { cursor: 'not a cursor of this list' });
}
