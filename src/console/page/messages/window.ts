/**
 * Which rows of a long list are on the page. Rows have one height, so that a million of them cost
 * what a screenful costs.
 */
export interface ListWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Browsers end at some 16 million pixels: what lies deeper is reached by the time filter. */
export const MOST_ROWS = 200_000;

const OVERSCAN_ROWS = 8;

export function visibleRows(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  total: number,
): ListWindow {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN_ROWS);
  const end = Math.min(total, Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN_ROWS);
  return { first: Math.min(first, Math.max(0, total - 1)), end: Math.max(end, 0) };
}

/** Where to scroll so that a row is wholly seen; the same position when it is. */
export function scrollToShow(
  index: number,
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  const bottom = top + rowHeight;
  return bottom > scrollTop + viewHeight ? bottom - viewHeight : scrollTop;
}
