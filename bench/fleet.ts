// npm run bench -- fleet [--messages 50000] [--minutes 10] [--seed N]: three gateways with one database, while
// they are killed, frozen and cut off. Is an acknowledged message lost, delivered twice or out of order?
// With --database: nothing happens to them, but their lines to the database are cut, and it is restarted and its
// disk is full. A message that is submitted although the platform has it would be twice on one that does not
// recognize it: is there any? How many did a look find?
// With --rolling [--messages 6000] [--minutes 2]: they are restarted one after the other behind a load balancer.
// Does any sender notice?
// With --replies: how long does a reply that one gateway polled take to a tab at another one?
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { chaos } from './fleet/chaos.ts';
import { replies } from './fleet/replies.ts';
import { rolling } from './fleet/rolling.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    database: { type: 'boolean', default: false },
    rolling: { type: 'boolean', default: false },
    replies: { type: 'boolean', default: false },
    messages: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
  },
});

await withWorkbench(async (bench) => {
  const seed = Number(values.seed);
  console.log(`seed ${seed} (the same again: --seed ${seed})`);
  const [messages, minutes] = values.rolling ? [6000, 2] : [50_000, 10];
  const isPassed = values.replies
    ? await replies(bench, { seed })
    : await (values.rolling ? rolling : chaos)(bench, {
        messages: Number(values.messages ?? messages),
        minutes: Number(values.minutes ?? minutes),
        seed,
        ofDatabase: values.database,
      });
  console.log(isPassed ? 'PASS' : 'FAIL');
  if (!isPassed) process.exitCode = 1;
});
