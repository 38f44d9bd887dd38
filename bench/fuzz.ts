/**
 * npm run bench -- fuzz [--messages 20000] [--seed N] [--only SEED [--write FILE]] [--json]
 *
 * Does any message kill a worker of the email normalizer, occupy it for seconds, or produce a
 * request that the platform refuses? Runs mutations of all messages in test/fixtures/email through
 * the real worker threads. Every message has a seed of its own; `--only` generates one again.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Finding, fuzzMail, type FuzzReport, SLOW_MS } from '../test/support/mail-fuzz.ts';
import { mutateMail, readMailSeeds } from '../test/support/mail-mutations.ts';
import { withWorkbench } from './support/workbench.ts';

const PROGRESS_EVERY = 2000;
const SHOWN = 10;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    only: { type: 'string' },
    write: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

await withWorkbench(async (bench) => {
  const { only, write } = values;
  const first = Number(only ?? values.seed);
  const messages = only === undefined ? Number(values.messages) : 1;
  if (only !== undefined) {
    const { recipe, bytes } = mutateMail(readMailSeeds(), first);
    console.error(`${bytes.length} bytes: ${recipe}`);
    if (write !== undefined) await writeFile(write, bytes);
  } else {
    console.error(`seed ${first} (the same again: --seed ${first} --messages ${messages})`);
  }
  const report = await fuzzMail({
    folder: await bench.folder(),
    seeds: Array.from({ length: messages }, (_, index) => first + index),
    onProgress: (done) => {
      if (done % PROGRESS_EVERY === 0) console.error(`${done} messages`);
    },
  });
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else print(report);
  const { workerDeaths, failures, overTime, refused } = report;
  if (workerDeaths + failures.length + overTime.length + refused.length > 0) process.exitCode = 1;
});

function print(report: FuzzReport): void {
  const { messages, seconds, workerDeaths, failures, overTime, refused, stubs, slowest } = report;
  const line = (count: number, what: string) =>
    console.log(`${count === 0 ? 'PASS' : 'FAIL'} ${count} ${what}`);
  console.log(`${messages} messages in ${seconds.toFixed(1)} s`);
  line(workerDeaths, 'worker deaths');
  line(failures.length, 'messages of which nothing came');
  line(overTime.length, `over ${SLOW_MS / 1000} s`);
  line(refused.length, 'payloads that the platform would refuse');
  console.log(`     ${stubs.length} stubs delivered`);
  console.log(
    `     slowest ${slowest.ms.toFixed(0)} ms, alone: --only ${slowest.seed} (${slowest.recipe})`,
  );
  for (const found of [failures, overTime, refused, stubs]) {
    for (const each of found.slice(0, SHOWN)) console.log(describe(each));
  }
}

function describe({ seed, recipe, what }: Finding): string {
  return `\n--only ${seed} (${recipe})\n  ${what.replaceAll('\n', '\n  ')}`;
}
