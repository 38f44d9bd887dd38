import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Smaller loads and fewer rounds: shows that everything works, not representative. */
  readonly quick: boolean;
  /** Prints the results as JSON instead of a table. */
  readonly json: boolean;
  /** Runs only the scenarios whose name contains this. */
  readonly only: string;
  /** A folder for CPU profiles of the gateway. */
  readonly profile: string | undefined;
}

export function readOptions(): BenchOptions {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      profile: { type: 'string' },
    },
  });
  const { quick, json, only, profile } = values;
  return { quick, json, only, profile };
}
