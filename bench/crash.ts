// npm run bench -- crash [--kills 50] [--seed N] [--faults 0.2]: is an acknowledged message ever
// lost when the gateway is killed?
// npm run bench -- crash --between [--kills 150] [--store sqlite|postgres]: the same, with each kill between the
// platform's commit and its answer; is a message created twice? Both stores unless one is named.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { describeBetween, killsBetween, STORES } from './crash/between.ts';
import { crash, describe } from './crash/run.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    between: { type: 'boolean', default: false },
    store: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    faults: { type: 'string', default: '0.2' },
  },
});

await withWorkbench(async (bench) => {
  const seed = Number(values.seed);
  console.log(`seed ${seed} (the same again: --seed ${seed})`);
  if (values.between) {
    for (const store of STORES.filter((each) => each === (values.store ?? each))) {
      const report = await killsBetween(bench, {
        ...{ store, seed, kills: Number(values.kills ?? 150), lanes: 3, meanPauseMs: 200 },
        ...{ drainWithinMs: 300_000, onProgress: (line) => console.log(line) },
      });
      console.log(`\n${describeBetween(report)}`);
      if (report.twice.length + report.faults.length > 0) process.exitCode = 1;
    }
    return;
  }
  const kills = Number(values.kills ?? 50);
  const report = await crash(bench, {
    kills,
    seed,
    faultShare: Number(values.faults),
    lanes: 8,
    meanPauseMs: 80,
    lifeMs: 2500,
    // A lane waits for each message that the platform fails, and a run of many kills has long lanes.
    drainWithinMs: Math.max(300, 30 * kills) * 1000,
    onProgress: (line) => console.log(line),
  });
  console.log(`\n${describe(report)}`);
  if (report.faults.length > 0) process.exitCode = 1;
});
