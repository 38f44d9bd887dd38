import CliTable from 'cli-table3';
import { type Colour, oneLine, paintFor } from './cell.ts';
import { fit, type Flexibility, GAP } from './layout.ts';
import type { Terminal } from './terminal.ts';

export interface Column<Item> extends Flexibility {
  readonly head: string;
  readonly value: (item: Item) => string | number | null | undefined;
  /** Numbers, under one another. */
  readonly right?: true;
  /** Of a cell with this text. */
  readonly colour?: (text: string) => Colour | undefined;
}

/** Where nobody looks at once, there is room. */
const PIPE_WIDTH = 160;
const NO_LINES = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left'],
    ...['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
  ].map((line) => [line, '']),
);

/**
 * A table that grows page by page: its widths follow from the screen and not from the rows, so
 * that no page has to wait for the next.
 */
export class Table<Item> {
  readonly #columns: readonly { readonly column: Column<Item>; readonly width: number }[];
  readonly #paint: ReturnType<typeof paintFor>;
  #begun = false;

  constructor(columns: readonly Column<Item>[], terminal: Terminal) {
    this.#columns = fit(columns, terminal.columns ?? PIPE_WIDTH);
    this.#paint = paintFor(terminal);
  }

  /** The lines of more rows, under the heads when they are the first. */
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
