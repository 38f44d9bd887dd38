// npm run bench -- fleet [--messages 50000] [--minutes 10] [--seed N]: three gateways with one database, while
// they are killed, frozen and cut off. Is an acknowledged message lost, delivered twice or out of order?
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { chaos } from './fleet/chaos.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50000' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
  },
});

await withWorkbench(async (bench) => {
  const seed = Number(values.seed);
  console.log(`seed ${seed} (the same again: --seed ${seed})`);
  const isPassed = await chaos(bench, {
    ...{ messages: Number(values.messages), minutes: Number(values.minutes), seed },
  });
  console.log(isPassed ? 'PASS' : 'FAIL');
  if (!isPassed) process.exitCode = 1;
});
