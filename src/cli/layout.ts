/** How a column may be squeezed. Widths are in characters. */
export interface Flexibility {
  readonly min: number;
  /** Takes what is left over, up to this. Without it, the column is always `min` wide. */
  readonly max?: number;
  /** Left out when the screen is too narrow: the highest first. Without it, never. */
  readonly drop?: number;
}

export const GAP = 2;

/**
 * Fits columns into a screen: which ones are shown, and how wide. A table that cannot be made
 * narrow enough is as narrow as it can be.
 */
export function fit<Column extends Flexibility>(
  columns: readonly Column[],
  width: number,
): readonly { readonly column: Column; readonly width: number }[] {
  let shown = columns;
  const least = () => shown.reduce((sum, { min }) => sum + min, GAP * (shown.length - 1));
  while (least() > width) {
    const next = Math.max(...shown.map(({ drop = 0 }) => drop));
    if (next === 0) break;
    shown = shown.filter(({ drop }) => drop !== next);
  }
  let left = Math.max(0, width - least());
  let elastic = shown.filter(({ max }) => max !== undefined).length;
  return shown.map((column) => {
    const { min, max } = column;
    if (max === undefined) return { column, width: min };
    // An equal share; what one does not need is for those after it.
    const extra = Math.min(Math.floor(left / elastic), Math.max(0, max - min));
    left -= extra;
    elastic -= 1;
    return { column, width: min + extra };
  });
}
