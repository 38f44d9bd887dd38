import { median } from './statistics.ts';

/** Something that can be measured repeatedly. */
export interface Contender {
  readonly name: string;
  /** Makes one measurement: messages per second. */
  readonly measure: () => Promise<number>;
}

export interface Measured {
  readonly name: string;
  /** The median of all rounds. */
  readonly perSecond: number;
  readonly rounds: readonly number[];
}

export type OnMeasured = (name: string, perSecond: number, round: number) => void;

/**
 * Measures contenders in turn, A B C A B C, so that other load on the machine affects all of them.
 * The first round is a warm-up and does not count.
 */
export async function takeTurns(
  contenders: readonly Contender[],
  rounds: number,
  onMeasured: OnMeasured,
): Promise<readonly Measured[]> {
  const all = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, measure } of contenders) {
      const perSecond = await measure();
      onMeasured(name, perSecond, round);
      if (round > 0) all.get(name)?.push(perSecond);
    }
  }
  return [...all].map(([name, values]) => ({ name, perSecond: median(values), rounds: values }));
}

/**
 * The ratio of two contenders: the median of each round's ratio, so that a period in which the
 * machine is slow, which affects both, does not matter.
 */
export function ratioOf(measured: readonly Measured[], of: string, over: string): number {
  const roundsOf = (name: string) => measured.find((each) => each.name === name)?.rounds ?? [];
  const others = roundsOf(over);
  return median(roundsOf(of).map((value, round) => value / (others[round] ?? NaN)));
}

/** Prints each measurement to standard error. */
export function printProgress(scenario: string): OnMeasured {
  return (name, perSecond, round) => {
    const when = round === 0 ? 'warm-up' : `round ${round}`;
    console.error(`${scenario}: ${name} ${perSecond.toFixed(0)}/s (${when})`);
  };
}
