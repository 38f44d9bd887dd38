import Table from 'cli-table3';
import { type Measured, ratioOf } from './rounds.ts';

/** The minimum ratio of two contenders in one run. */
export interface Goal {
  readonly of: string;
  readonly over: string;
  readonly atLeast: number;
}

export interface Judged extends Goal {
  readonly ratio: number;
  readonly met: boolean;
}

export function judge(measured: readonly Measured[], goals: readonly Goal[]): Judged[] {
  return goals.map((goal) => {
    const ratio = ratioOf(measured, goal.of, goal.over);
    return { ...goal, ratio, met: ratio >= goal.atLeast };
  });
}

export interface Row {
  readonly scenario: string;
  readonly measured: readonly Measured[];
  readonly judged: readonly Judged[];
  /** Ratios without a goal. */
  readonly noted: readonly Judged[];
}

/** Prints one line per scenario: figures per second, ratios, and whether the goals are met. */
export function printTable(columns: readonly string[], rows: readonly Row[]): void {
  const table = new Table({
    head: ['messages a second', ...columns, 'ratios and goals'],
    style: { head: [], border: [] },
    colAligns: ['left', ...columns.map(() => 'right' as const), 'left'],
  });
  for (const { scenario, measured, judged, noted } of rows) {
    const figure = (column: string) => measured.find(({ name }) => name === column)?.perSecond;
    table.push([
      scenario,
      ...columns.map((column) => figure(column)?.toFixed(0) ?? ''),
      [...judged.map(goalLine), ...noted.map(noteLine)].join('\n'),
    ]);
  }
  console.log(table.toString());
}

const goalLine = ({ of, over, ratio, atLeast, met }: Judged): string =>
  `${met ? 'PASS' : 'FAIL'} ${of} = ${ratio.toFixed(2)} x ${over} (goal ${atLeast})`;

const noteLine = ({ of, over, ratio }: Judged): string =>
  `     ${of} = ${ratio.toFixed(2)} x ${over}`;

/** A figure with its goal. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** Prints one line per figure, and returns whether all goals are met. */
export function printFigures(figures: readonly Figure[]): boolean {
  const isMet = ({ value, atMost = Infinity, atLeast = -Infinity }: Figure) =>
    value <= atMost && value >= atLeast;
  for (const figure of figures) {
    const { what, value, atMost, atLeast } = figure;
    const goal = [
      ...(atMost === undefined ? [] : [`at most ${atMost}`]),
      ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ].join(', ');
    const verdict = goal === '' ? '    ' : isMet(figure) ? 'PASS' : 'FAIL';
    const shown = value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 2 : 0 });
    console.log(`${verdict} ${what}: ${shown}${goal === '' ? '' : ` (goal: ${goal})`}`);
  }
  return figures.every(isMet);
}
