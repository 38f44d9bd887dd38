import Table from 'cli-table3';
import { median } from '../support/statistics.ts';

/** A line of a scenario's table, with a value for each column; undefined where there is none. */
export interface Row {
  readonly what: string;
  readonly values: readonly (number | undefined)[];
}

/** A figure with its limit. */
export interface Goal {
  readonly what: string;
  /** In each round; none if it could not be measured. */
  readonly rounds: readonly number[];
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Outcome {
  readonly scenario: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly goals: readonly Goal[];
}

/** `undefined` for a figure that could not be measured. */
export function isMet({
  rounds,
  atMost = Infinity,
  atLeast = -Infinity,
}: Goal): boolean | undefined {
  if (rounds.length === 0) return undefined;
  const value = median(rounds);
  return value <= atMost && value >= atLeast;
}

/** Prints a table for each scenario, and one with all goals. */
export function printOutcomes(outcomes: readonly Outcome[]): void {
  for (const { scenario, columns, rows } of outcomes) {
    if (rows.length === 0) continue;
    const table = newTable([scenario, ...columns]);
    for (const { what, values } of rows) {
      table.push([what, ...values.map((value) => (value === undefined ? '' : shown(value)))]);
    }
    console.log(`${table.toString()}\n`);
  }
  const table = newTable(['goals: medians', 'measured', 'lowest', 'highest', 'goal', '']);
  for (const goal of outcomes.flatMap(({ goals }) => goals)) {
    const { what, rounds, atMost, atLeast } = goal;
    const limit = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
    const figures = [median(rounds), Math.min(...rounds), Math.max(...rounds)].map(shown);
    const verdict = { true: 'PASS', false: 'FAIL', undefined: 'NOT MEASURED' }[`${isMet(goal)}`];
    table.push([what, ...(rounds.length === 0 ? ['', '', ''] : figures), limit, verdict]);
  }
  console.log(table.toString());
}

const newTable = (head: readonly string[]): Table.Table =>
  new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', ...head.slice(1).map(() => 'right' as const)],
  });

function shown(value: number): string {
  const digits = value < 1 ? 3 : value < 100 ? 2 : 0;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}
