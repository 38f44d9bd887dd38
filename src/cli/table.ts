import CliTable from 'cli-table3';
import { type Colour, oneLine, paintFor } from './cell.ts';
import type { Terminal } from './terminal.ts';

export interface Column<Item> extends Flexibility {
  readonly head: string;
  readonly value: (item: Item) => string | number | null | undefined;
  /** Right-aligned, for numbers. */
  readonly right?: true;
  /** The colour of a cell with this text. */
  readonly colour?: (text: string) => Colour | undefined;
}

/** A pipe has no screen width. */
const PIPE_WIDTH = 160;
const NO_LINES = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left'],
    ...['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
  ].map((line) => [line, '']),
);

/**
 * A table that is printed page by page. Its column widths depend on the screen rather than the
 * rows, so no page has to wait for the next.
 */
export class Table<Item> {
  readonly #columns: readonly { readonly column: Column<Item>; readonly width: number }[];
  readonly #paint: ReturnType<typeof paintFor>;
  #begun = false;

  constructor(columns: readonly Column<Item>[], terminal: Terminal) {
    this.#columns = fit(columns, terminal.columns ?? PIPE_WIDTH);
    this.#paint = paintFor(terminal);
  }

  /** The lines of further rows, preceded by the header if they are the first. */
  lines(items: readonly Item[]): string {
    const rows = items.map((item) => this.#columns.map(({ column }) => this.#cell(column, item)));
    const heads = this.#columns.map(({ column }) => this.#paint(column.head, 'dim'));
    const all = this.#begun ? rows : [heads, ...rows];
    this.#begun = true;
    if (all.length === 0) return '';
    const table = new CliTable({
      chars: { ...NO_LINES, middle: ' '.repeat(GAP) },
      style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
      colWidths: this.#columns.map(({ width }) => width),
      colAligns: this.#columns.map(({ column }) => (column.right ? 'right' : 'left')),
    });
    table.push(...all);
    return table
      .toString()
      .split('\n')
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  }

  #cell(column: Column<Item>, item: Item): string {
    const text = oneLine(String(column.value(item) ?? ''));
    return this.#paint(text, column.colour?.(text));
  }
}

/** How a column can shrink. Widths are in characters. */
interface Flexibility {
  readonly min: number;
  /** The column grows into unused space up to this width. Without it, the width is always `min`. */
  readonly max?: number;
  /**
   * On a narrow screen, columns are hidden in descending order of this number; those without it are
   * never hidden.
   */
  readonly drop?: number;
}

const GAP = 2;

/**
 * Fits columns to a screen: which are shown, and how wide. A table that cannot be narrow enough
 * gets its smallest width.
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
    // An equal share; the columns that follow get what this one does not need.
    const extra = Math.min(Math.floor(left / elastic), Math.max(0, max - min));
    left -= extra;
    elastic -= 1;
    return { column, width: min + extra };
  });
}
