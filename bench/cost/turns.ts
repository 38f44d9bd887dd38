import { median } from '../support/statistics.ts';
import type { Cost, MeasuredProcess } from './measured-process.ts';
import type { Row } from './report.ts';
import { SHOWN_ROLES } from './thread-time.ts';

/** What is measured in turns with others, and makes a column of the table. */
export interface Side {
  readonly name: string;
  readonly process: MeasuredProcess;
  /** In each round. */
  readonly messages: number;
  /** Prepares a round. Returns what is measured, which resolves with messages a second. */
  readonly prepare: () => Promise<() => Promise<number>>;
}

/** The costs of a side in each round. */
export interface Measured {
  readonly name: string;
  readonly costs: readonly Cost[];
}

/**
 * Measures A B C A B C, so that other load on the machine affects all of them. The first round is a
 * warm-up and does not count.
 */
export async function measureInTurns(
  scenario: string,
  rounds: number,
  sides: readonly Side[],
): Promise<Measured[]> {
  const costs = new Map<string, Cost[]>(sides.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, process, messages, prepare } of sides) {
      const cost = await process.costOf(messages, await prepare());
      const when = round === 0 ? 'warm-up' : `round ${round}`;
      const figures = `${cost.ms.toFixed(3)} ms each, ${cost.perSecond.toFixed(0)}/s`;
      console.error(`${scenario}: ${name} ${figures} (${when})`);
      if (round > 0) costs.get(name)?.push(cost);
    }
  }
  return [...costs].map(([name, each]) => ({ name, costs: each }));
}

/** The figures of one side, by round; none if it was not measured. */
export function roundsOf(
  measured: readonly Measured[],
  name: string,
  figure: (cost: Cost) => number,
): number[] {
  return measured.find((each) => each.name === name)?.costs.map(figure) ?? [];
}

/** Messages a second of one side beside another's, by round; none if either was not measured. */
export function ratiosOf(measured: readonly Measured[], of: string, over: string): number[] {
  const others = roundsOf(measured, over, perSecond);
  if (others.length === 0) return [];
  return roundsOf(measured, of, perSecond).map((value, round) => value / (others[round] ?? NaN));
}

const perSecond = (cost: Cost): number => cost.perSecond;
/** Roles that use less in every column are left out. */
const LEAST_MS = 0.005;
const LEAST_KB = 0.5;

/**
 * The lines of a table: the medians of each side.
 * @param rivals the sides with whose messages a second the others' are compared
 */
export function rowsOf(measured: readonly Measured[], rivals: readonly string[]): Row[] {
  const row = (what: string, figure: (cost: Cost) => number | undefined): Row => ({
    what,
    values: measured.map(({ costs }) => medianOf(costs.map(figure))),
  });
  return [
    row('processor time, ms', ({ ms }) => ms),
    ...SHOWN_ROLES.map((role) => row(`  ${role}`, ({ msByThread }) => msByThread.get(role))).filter(
      reaches(LEAST_MS),
    ),
    row('written, KB', ({ written }) => kilobytes(written)),
    ...[
      row('fsyncs', ({ fsyncs }) => fsyncs),
      row('heap allocated, KB', ({ allocated }) => kilobytes(allocated)),
    ].filter(reaches(0)),
    ...SHOWN_ROLES.map((role) =>
      row(`  ${role}`, (cost) => kilobytes(cost.allocatedByThread.get(role))),
    ).filter(reaches(LEAST_KB)),
    row('messages a second', perSecond),
    ...rivals.map((rival) => ({
      what: `  ÷ ${rival}`,
      values: measured.map(({ name }) =>
        rivals.includes(name) ? undefined : medianOf(ratiosOf(measured, name, rival)),
      ),
    })),
  ];
}

const reaches =
  (least: number) =>
  ({ values }: Row): boolean =>
    values.some((value) => value !== undefined && value >= least);

const kilobytes = (bytes: number | undefined): number | undefined =>
  bytes === undefined ? undefined : bytes / 1024;

function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}
