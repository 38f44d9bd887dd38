/**
 * npm run bench -- mime [--messages 50000] [--mutants 20000] [--seed N] [--only SEED [--mutant] [--write FILE]]
 *
 * Does Sluice find the same parts in a message as another parser (postal-mime), with the same bytes
 * and names? Compares them on generated MIME and on mutations of all messages in
 * test/fixtures/email. Prints the differences by reason; exit status 1 if there is one without a
 * reason, a part that is lost or not as it was written, a crash, or a message that takes over 5 s.
 * Every message has a seed of its own; `--only` generates one again.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readMailSeeds } from '../test/support/mail-mutations.ts';
import {
  compareParsers,
  type Finding,
  messageOf,
  type ParserReport,
  type ParserRun,
} from '../test/support/mime/compare-parsers.ts';
import { type Reason, REASONS } from '../test/support/mime/mime-differences.ts';
import { withWorkbench } from './support/workbench.ts';

const PROGRESS_EVERY = 5000;
const SHOWN = 10;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50000' },
    mutants: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    only: { type: 'string' },
    mutant: { type: 'boolean', default: false },
    write: { type: 'string' },
  },
});

await withWorkbench(async (bench) => {
  const folder = await bench.folder();
  const { only, write, mutant } = values;
  const compare = async (kind: ParserRun['kind'], first: number, count: number) => {
    const seeds = Array.from({ length: count }, (_, index) => first + index);
    const onProgress = (done: number) => {
      if (done % PROGRESS_EVERY === 0) console.error(`${done} ${kind} messages`);
    };
    print(kind, await compareParsers({ kind, seeds, folder, onProgress }));
  };
  if (only !== undefined) {
    const kind = mutant ? 'mutated' : 'generated';
    const { bytes, recipe } = messageOf(kind, readMailSeeds(), Number(only));
    console.error(`${bytes.length} bytes: ${recipe}`);
    if (write !== undefined) await writeFile(write, bytes);
    await compare(kind, Number(only), 1);
    return;
  }
  const { seed, messages, mutants } = values;
  console.error(`seed ${seed} (the same again: --seed ${seed})`);
  await compare('generated', Number(seed), Number(messages));
  await compare('mutated', Number(seed), Number(mutants));
});

function print(kind: ParserRun['kind'], report: ParserReport): void {
  const { messages, reasons, unexplained, lost, notAsWritten, crashes, slow } = report;
  console.log(`${messages} ${kind} messages; differences by reason:`);
  for (const reason of Object.keys(reasons) as Reason[]) {
    if (reasons[reason] > 0) console.log(`     ${reasons[reason]} ${reason}: ${REASONS[reason]}`);
  }
  const line = (found: readonly Finding[], what: string) => {
    console.log(`${found.length === 0 ? 'PASS' : 'FAIL'} ${found.length} ${what}`);
    for (const each of found.slice(0, SHOWN)) console.log(describe(kind, each));
    if (found.length > 0) process.exitCode = 1;
  };
  line(unexplained, 'unexplained differences');
  line(crashes, 'crashes');
  line(slow, 'over 5 s');
  line(lost, 'messages with leaves that are not accounted for');
  if (kind === 'generated') line(notAsWritten, 'messages that are not as they were written');
}

function describe(kind: ParserRun['kind'], { seed, recipe, what }: Finding): string {
  const again = `--only ${seed}${kind === 'mutated' ? ' --mutant' : ''}`;
  return `     ${again} (${recipe})\n       ${what.replaceAll('\n', '\n       ')}`;
}
