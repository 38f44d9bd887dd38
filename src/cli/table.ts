import CliTable from 'cli-table3';
import { type Colour, oneLine, paintFor } from './cell.ts';
import { printableLine, type Terminal } from './terminal.ts';

export interface Column<Item> extends Flexibility {
  readonly head: string;
  readonly value: (item: Item) => string | number | null | undefined;
  /** Right-aligned, for numbers. */
  readonly right?: true;
  /** The colour of a cell with this text. */
  readonly colour?: (text: string) => Colour | undefined;
}

/** A pipe has no screen width: columns have these places, and longer cells move the rest. */
const PIPE_WIDTH = 160;
const NO_LINES = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left'],
    ...['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
  ].map((line) => [line, '']),
);

/**
 * A table that is printed page by page. Its column widths depend on the screen rather than the
 * rows, so no page has to wait for the next. Only on a screen are cells cut.
 */
export class Table<Item> {
  readonly #columns: readonly { readonly column: Column<Item>; readonly width: number }[];
  readonly #paint: ReturnType<typeof paintFor>;
  readonly #isCut: boolean;
  #begun = false;

  constructor(columns: readonly Column<Item>[], terminal: Terminal) {
    this.#columns = fit(columns, terminal.columns ?? Math.max(PIPE_WIDTH, leastWidth(columns)));
    this.#paint = paintFor(terminal);
    this.#isCut = terminal.columns !== undefined;
  }

  /** The lines of further rows, preceded by the header if they are the first. */
  lines(items: readonly Item[]): string {
    const rows = items.map((item) => this.#columns.map(({ column }) => this.#cell(column, item)));
    const heads = this.#columns.map(({ column }) => this.#paint(column.head, 'dim'));
    const all = this.#begun ? rows : [heads, ...rows];
    this.#begun = true;
    if (all.length === 0) return '';
    if (!this.#isCut) return all.map((cells) => this.#wholeLine(cells)).join('');
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

  /** For a pipe, whose reader wants every character. */
  #wholeLine(cells: readonly string[]): string {
    const padded = cells.map((cell, at) => {
      const { column, width = 0 } = this.#columns[at] ?? {};
      return column?.right ? cell.padStart(width) : cell.padEnd(width);
    });
    return `${padded.join(' '.repeat(GAP)).trimEnd()}\n`;
  }

  #cell(column: Column<Item>, item: Item): string {
    const value = String(column.value(item) ?? '');
    const text = this.#isCut ? oneLine(value) : printableLine(value).trim();
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

const leastWidth = (columns: readonly Flexibility[]): number =>
  columns.reduce((sum, { min }) => sum + min, GAP * (columns.length - 1));

/**
 * Fits columns to a screen: which are shown, and how wide. A table that cannot be narrow enough
 * gets its smallest width.
 */
export function fit<Column extends Flexibility>(
  columns: readonly Column[],
  width: number,
): readonly { readonly column: Column; readonly width: number }[] {
  let shown = columns;
  const least = () => leastWidth(shown);
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
