/**
 * Does delivery keep its guarantees, whatever the platform, people and the machine do? `USAGE`
 * describes the options.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTATIONS } from '../test/simulation/mutations.ts';
import { isCalm, requestsOf } from '../test/simulation/invariants.ts';
import { play, told } from '../test/simulation/play.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    first: { type: 'string', default: '1' },
    only: { type: 'string' },
    gateways: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    'up-to': { type: 'string', default: '3000' },
    /** For a child process: the remainder of its seeds, and the number of processes. */
    part: { type: 'string' },
  },
});
const USAGE = `npm run bench -- simulate [options]

Each seed is a run of the real intake, store and delivery code in virtual time (test/simulation).
Prints the seeds in which a guarantee was violated, and what the runs without a fault cost.

  --seeds 20000    the number of seeds
  --first 1        the first seed
  --only SEED      runs one seed again and describes it
  --gateways 1     how many gateways share the store; each has faults and a clock of its own
  --mutations      puts known faults into the code, one at a time, and prints how many seeds
                   it takes to find each
  --up-to 3000     the number of seeds after which such a fault counts as not found`;
const SHOWN = 10;
const gateways = Number(values.gateways);
const PROGRESS_EVERY = 1000;

interface Part {
  readonly seed: number;
  readonly report?: string;
  readonly messages: number;
  readonly virtualMs: number;
  /** If nothing was wrong in this run. */
  readonly calm?: ReturnType<typeof requestsOf>;
}

if (values.help || !(gateways >= 1)) {
  console.log(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else if (values.only !== undefined) {
  const played = await play(Number(values.only), { gateways });
  console.log(told(played));
  process.exitCode = played.violations.length > 0 ? 1 : 0;
} else if (values.mutations) {
  await findMutations(Number(values['up-to']));
} else if (values.part !== undefined) {
  await playPart(values.part);
} else {
  await playAll(Number(values.first), Number(values.seeds));
}

async function playPart(part: string): Promise<void> {
  const [index = 0, parts = 1] = part.split('/').map(Number);
  const first = Number(values.first);
  for (let seed = first + index; seed < first + Number(values.seeds); seed += parts) {
    const played = await play(seed, { gateways });
    const { scenario, endedAt } = played.run;
    const message: Part = {
      seed,
      messages: scenario.messages.length,
      virtualMs: endedAt - Date.UTC(2026, 0, 1),
      ...(isCalm(played.run) && { calm: requestsOf(played.run) }),
      ...(played.violations.length > 0 && { report: told(played) }),
    };
    await new Promise((resolve) => process.send?.(message, undefined, undefined, resolve));
  }
  process.disconnect();
}

async function playAll(first: number, seeds: number): Promise<void> {
  const started = process.hrtime.bigint();
  const parts = Math.max(1, availableParallelism());
  let [played, messages, virtualMs, failing] = [0, 0, 0, 0];
  const calm = { seeds: 0, shops: 0, delivered: 0, posts: 0, reads: 0 };
  const fail = (report: string): void => {
    failing += 1;
    if (failing <= SHOWN) console.log(report);
  };
  await Promise.all(
    Array.from({ length: parts }, async (_, index) => {
      const args = [
        '--first',
        String(first),
        '--seeds',
        String(seeds),
        '--gateways',
        values.gateways,
      ];
      const child = fork(fileURLToPath(import.meta.url), [...args, '--part', `${index}/${parts}`]);
      child.on('message', (part: Part) => {
        played += 1;
        messages += part.messages;
        virtualMs += part.virtualMs;
        if (part.calm) {
          calm.seeds += 1;
          for (const key of ['shops', 'delivered', 'posts', 'reads'] as const) {
            calm[key] += part.calm[key];
          }
        }
        if (part.report !== undefined) fail(part.report);
        if (played % PROGRESS_EVERY === 0) console.error(`${played} of ${seeds}`);
      });
      const [code] = (await once(child, 'exit')) as [number];
      if (code !== 0) fail(`a process ended with ${code}`);
    }),
  );
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  console.log(
    `${played} seeds, ${messages} messages, ${Math.round(virtualMs / 3_600_000)} hours of virtual ` +
      `time in ${Math.round(seconds)} s: ${failing} with violations`,
  );
  console.log(
    `nothing was wrong in ${calm.seeds} of them: ${calm.delivered} messages delivered, ` +
      `${(calm.posts / calm.delivered).toFixed(4)} posted for each and ${calm.reads} reads for ${calm.shops} new shops`,
  );
  process.exitCode = failing > 0 || played < seeds ? 1 : 0;
}

async function findMutations(upTo: number): Promise<void> {
  console.log('| fault put back | found after seeds | by |\n| --- | --- | --- |');
  const possible = gateways === 1 ? 'one' : 'several';
  for (const { name, meddling, of = possible } of MUTATIONS) {
    if (of !== possible) continue;
    let seed = 0;
    let found: string | undefined;
    while (found === undefined && seed < upTo) {
      seed += 1;
      // A fault's effect on the store may make a call fail outright; this counts as found, too.
      found = await play(seed, { ...meddling, gateways }).then(
        ({ violations: [violation] }) => violation,
        (error: unknown) => String(error),
      );
    }
    if (found === undefined) process.exitCode = 1;
    console.log(`| ${name} | ${found === undefined ? 'not found' : seed} | ${found ?? ''} |`);
  }
}
