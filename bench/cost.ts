import { parseArgs } from 'node:util';
import { isMet, type Outcome, printOutcomes } from './cost/report.ts';
import { SCENARIOS } from './cost/scenarios.ts';
import { Stage } from './cost/stage.ts';
import { warmMemory } from './support/warm-memory.ts';
import { withWorkbench } from './support/workbench.ts';

const HELP = `npm run bench -- cost [--only NAME] [--rounds 5] [--n MESSAGES] [--quick] [--json] [--profile FOLDER]

Measures what a message costs the gateway: processor time in each of its threads, bytes written, fsyncs (counted by
perf, if it is there and may) and heap allocated; beside a naive bridge that stores nothing, in one process and in two,
beside a real Postfix and beside each channel's library alone, in the same run. Prints the median of the rounds, and
whether each goal is met.

--only NAME       the scenarios whose name contains this:
${SCENARIOS.map(({ name }) => `                    ${name}`).join('\n')}
--rounds 5        measured rounds; one more before them warms up
--n MESSAGES      in each round of a scenario (the steady one: in all together), instead of its own number; few
                  messages give rough figures
--quick           one round with a tenth of the messages: shows that everything works, not representative
--json            the results as JSON, with the values of each round for the goals
--profile FOLDER  for CPU profiles of the gateway whose mail is from a relay

Example: npm run bench -- cost --only "email 2 KB" --rounds 3 --n 1000`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    n: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const { only, quick, json } = values;
const chosen = SCENARIOS.filter(({ name }) => name.includes(only));

if (values.help) {
  console.log(HELP);
} else if (chosen.length === 0) {
  console.error(`No scenario's name contains "${only}"\n\n${HELP}`);
  process.exitCode = 2;
} else {
  const size = {
    rounds: positive('--rounds', values.rounds) ?? (quick ? 1 : 5),
    messages: positive('--n', values.n),
    share: quick ? 0.1 : 1,
    profileInto: values.profile,
  };
  await withWorkbench(async (bench) => {
    const stage = new Stage(bench, size);
    if (!quick) await warmMemory(await bench.folder());
    const outcomes: Outcome[] = [];
    for (const { name, run } of chosen) outcomes.push(await run(stage, name));
    if (json) console.log(JSON.stringify(outcomes, null, 2));
    else printOutcomes(outcomes);
    if (!outcomes.every(({ goals }) => goals.every(isMet))) process.exitCode = 1;
  });
}

function positive(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`${option} must be a whole number above 0, not "${text}"`);
  process.exit(2);
}
