import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { chaos, describe } from './chat/chaos.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- chat-chaos [--seconds 120] [--clients 50] [--seed N] [--restarts 2]

Visitors talk to an agent through a proxy that cuts, delays, stalls and half-closes their
connections, while the gateway is restarted (killed or stopped). At the end every acknowledged
message is to be at the platform once and in order, and every reply in every tab once, in order and
without gaps. Exit status 1 when anything is not. The same seed brings the same troubles.`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    clients: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    restarts: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  await withWorkbench(async (bench) => {
    const seed = Number(values.seed);
    console.log(`seed ${seed} (the same again: --seed ${seed})`);
    const report = await chaos(bench, {
      clients: Number(values.clients),
      seconds: Number(values.seconds),
      seed,
      restarts: Number(values.restarts),
      meanPauseMs: 1_500,
      meanCalmMs: 6_000,
      maxStallMs: 4_000,
      faultShare: 0.05,
      settleWithinMs: 120_000,
      onProgress: (line) => console.log(line),
    });
    console.log(`\n${describe(report)}`);
    if (report.violations.length > 0) process.exitCode = 1;
  });
}
