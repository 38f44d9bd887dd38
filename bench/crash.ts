// npm run bench -- crash [--kills 50] [--seed N] [--faults 0.2]: is an acknowledged message ever
// lost when the gateway is killed?
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { crash, describe } from './crash/run.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    faults: { type: 'string', default: '0.2' },
  },
});

await withWorkbench(async (bench) => {
  const seed = Number(values.seed);
  console.log(`seed ${seed} (the same again: --seed ${seed})`);
  const report = await crash(bench, {
    kills: Number(values.kills),
    seed,
    faultShare: Number(values.faults),
    lanes: 8,
    meanPauseMs: 80,
    lifeMs: 2500,
    drainWithinMs: 300_000,
    onProgress: (line) => console.log(line),
  });
  console.log(`\n${describe(report)}`);
  if (report.faults.length > 0) process.exitCode = 1;
});
