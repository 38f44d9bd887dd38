// npm run bench -- failover [--messages 3000] [--seconds 45] [--seed N]: two gateways with one database, whose primary
// has a synchronous standby. The primary is killed while emails, texts and chat messages arrive, and the standby
// promoted. Is an acknowledged message lost, is one delivered twice or out of order, does a gateway end, and how
// long does a sender wait?
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CHANNELS } from '../src/domain/channel.ts';
import { drained } from './fleet/drain.ts';
import { startFleet } from './fleet/gateways.ts';
import { Load } from './fleet/load.ts';
import { lossesOf, print, printTries } from './fleet/report.ts';
import { printFigures } from './support/goals.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '3000' },
    seconds: { type: 'string', default: '45' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
  },
});
const GATEWAYS = 2;
/** Until somebody or something promotes the standby. */
const NOTICED_AFTER_MS = 1000;
const DRAIN_WITHIN_MS = 300_000;
const MOST_MS = 10_000;

await withWorkbench(async (bench) => {
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  console.log(`seed ${seed} (the same again: --seed ${seed})`);
  const fleet = await startFleet(bench, GATEWAYS, { isReplicated: true });
  const { cluster, standby, gateways } = fleet;
  if (standby === undefined) throw new Error('no standby');

  const load = new Load({
    ...{ doors: gateways, messages: Number(values.messages), seed, copies: true },
    overMs: seconds * 1000,
  });
  const acknowledged = () =>
    CHANNELS.reduce((sum, channel) => sum + load.counts[channel].acknowledged, 0);
  const sending = load.run();
  await delay((seconds * 1000) / 3);
  process.kill(cluster.pid, 'SIGKILL');
  const before = acknowledged();
  console.log(`${before} acknowledged; the primary is killed`);
  await delay(NOTICED_AFTER_MS);
  await standby.promote();
  console.log('the standby is promoted');
  await sending;

  const promoted = fleet.url.replace(`:${cluster.port}/`, `:${standby.port}/`);
  const rest = await drained(promoted, DRAIN_WITHIN_MS);
  const losses = await lossesOf(load, fleet, rest);
  printTries(load);
  const failedStarts = gateways.reduce((sum, each) => sum + each.failedStarts, 0);
  const isWhole = print([...losses, ['starts of a gateway that failed', failedStarts]]);
  const isInTime = printFigures([
    { what: 'acknowledged before the kill', value: before, atLeast: 1 },
    { what: 'acknowledged afterwards', value: acknowledged() - before, atLeast: 1 },
    ...CHANNELS.map((channel) => ({
      what: `slowest acknowledgement of ${channel}, in ms from the sender's first try`,
      value: load.counts[channel].slowestMs,
      atMost: MOST_MS,
    })),
  ]);
  console.log(isWhole && isInTime ? 'PASS' : 'FAIL');
  if (!isWhole || !isInTime) process.exitCode = 1;
});
