// npm run bench -- power-cut [--runs 100] [--seed N] [--part '/blobs$']: is an acknowledged message
// lost when an fsync fails and the power is cut afterwards?
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { buildPreload } from '../test/support/preload.ts';
import { describe, faultsOf, powerCut } from './power-cut/run.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    part: { type: 'string' },
  },
});

await withWorkbench(async (bench) => {
  const preload = buildPreload('lying-disk', await bench.folder());
  if ('why' in preload) throw new Error(`the disk cannot be had: ${preload.why}`);
  const seed = Number(values.seed);
  console.log(`seed ${seed} (the same again: --seed ${seed})`);
  const report = await powerCut({
    ...{ runs: Number(values.runs), seed, library: preload.library },
    ...(values.part !== undefined && { part: values.part }),
    onProgress: (line) => console.log(line),
  });
  console.log(`\n${describe(report)}`);
  if (faultsOf(report).length > 0) process.exitCode = 1;
});
