import { violationsOf } from './invariants.ts';
import { describeTraits } from './platform-traits.ts';
import type { Meddling } from './meddling.ts';
import { type Run, runSeed } from './run.ts';
import { SimulatedDisk } from './store.ts';

/** One disk for all runs of this thread. */
const disk = new SimulatedDisk();

export interface Played {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly run: Run;
}

/** Runs one seed and checks the invariants. */
export async function play(
  seed: number,
  meddling?: Meddling & { readonly gateways?: number },
): Promise<Played> {
  const run = await runSeed(seed, disk, meddling);
  return { seed, run, violations: violationsOf(run) };
}

/** A readable report of the run and its violations. */
export function told({ seed, run, violations }: Played): string {
  const { scenario } = run;
  return [
    `seed ${seed}: ${violations.length} violations`,
    ...violations.slice(0, 12).map((violation) => `  ${violation}`),
    `  shops ${scenario.shops.length}, messages ${scenario.messages.length}, slots ${scenario.concurrency}, timeout ${scenario.requestTimeoutMs} ms, active ${scenario.activeMs} ms`,
    ...describeTraits(scenario.traits)
      .split('\n')
      .map((line) => `  ${line}`),
    ...scenario.happenings.map((happening) => `  ${JSON.stringify(happening)}`),
  ].join('\n');
}
