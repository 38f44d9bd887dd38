/**
 * npm run bench -- replies [--own] [--count 5000] [--seed N] [--only SEED] [--show N]
 *
 * Does trimming a reply cut the person's own words, or leave the quoted ones? Generates replies as
 * some 70 programs write them in 26 languages (test/support/replies), around made-up words. Exit
 * status 1 when one new word is lost, or quoted words are left over in more than 3 % of the replies.
 * `--only` prints one reply and what comes of it; `--show` prints so many faulty ones.
 *
 * `--own` generates replies whose own text tempts the reader instead: quotations of the person's own,
 * answers inside of a signature or of Outlook's container, lists, `--` between paragraphs. It prints
 * a table by kind, and quoted words may be left over in at most 2 %.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type GeneratedReply, generateReply } from '../test/support/replies/generate-reply.ts';
import { type Judged, judgeReply } from '../test/support/replies/judge-reply.ts';
import { generateOwnReply, OWN_KINDS } from '../test/support/replies/own-text.ts';
import { withWorkbench } from './support/workbench.ts';

const { values } = parseArgs({
  options: {
    own: { type: 'boolean', default: false },
    count: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    only: { type: 'string' },
    show: { type: 'string', default: '5' },
  },
});

const MAY_BE_LEFT = values.own ? 0.02 : 0.03;
const generate: (seed: number) => GeneratedReply = values.own ? generateOwnReply : generateReply;

interface Faulty {
  readonly seed: number;
  readonly reply: GeneratedReply;
  readonly judged: Judged;
}

await withWorkbench(async (bench) => {
  const scratch = await bench.folder();
  if (values.only !== undefined) {
    const reply = generate(Number(values.only));
    console.log(`${describe(reply)}\n${reply.body}\n`);
    const { content, cut, leftOver } = await judgeReply(reply, scratch);
    console.log(
      `=====\n${content}\n=====\ncut: ${cut.join(' ')}\nleft over: ${leftOver.join(' ')}`,
    );
    return;
  }
  const [first, count] = [Number(values.seed), Number(values.count)];
  console.log(`seed ${first}, ${count} replies`);
  const faults: Faulty[] = [];
  const written = new Map<string, number>();
  const note = (key: string) => written.set(key, (written.get(key) ?? 0) + 1);
  for (let seed = first; seed < first + count; seed += 1) {
    const reply = generate(seed);
    note(reply.client);
    note(reply.language);
    note(reply.posting);
    if (values.own) {
      note(kindOf(reply));
      note(shapeOf(reply));
    }
    const judged = await judgeReply(reply, scratch);
    if (judged.cut.length + judged.leftOver.length > 0) faults.push({ seed, reply, judged });
  }
  if (!report(faults, written, count)) process.exitCode = 1;
});

function report(
  faults: readonly Faulty[],
  written: ReadonlyMap<string, number>,
  count: number,
): boolean {
  const cut = faults.filter(({ judged }) => judged.cut.length > 0);
  const left = faults.filter(({ judged }) => judged.leftOver.length > 0);
  for (const { seed, reply, judged } of [...cut, ...left].slice(0, Number(values.show))) {
    const words = judged.cut.length > 0 ? `cut ${judged.cut.join(' ')}` : 'left over';
    console.log(`\n--only ${seed}: ${describe(reply)}: ${words}`);
  }
  if (values.own) {
    printKinds(cut, left, written);
    printBy('own cut, by shape', cut, written, shapeOf);
  } else {
    const postings = ['top', 'bottom', 'inline', 'forward'] as const;
    console.log(postings.map((each) => `${written.get(each) ?? 0} ${each}`).join(', '));
  }
  printBy('left over, by program', left, written, ({ client }) => client);
  printBy('left over, by language', left, written, ({ language }) => language);
  const ownWords = cut.reduce((sum, { judged }) => sum + judged.cut.length, 0);
  const share = left.length / count;
  console.log(
    `${ownWords === 0 ? 'PASS' : 'FAIL'} ${ownWords} new words cut, in ${cut.length} replies`,
  );
  console.log(
    `${share <= MAY_BE_LEFT ? 'PASS' : 'FAIL'} quoted words left over in ${left.length} replies, ` +
      `${(100 * share).toFixed(2)} % (goal: at most ${100 * MAY_BE_LEFT} %)`,
  );
  return ownWords === 0 && share <= MAY_BE_LEFT;
}

/** The first extra of an own text is its kind, the second the shape of its quotation or element. */
function kindOf({ extras }: GeneratedReply): string {
  return extras[0] ?? '';
}

function shapeOf({ extras }: GeneratedReply): string {
  return extras[1] ?? 'without a shape';
}

function printKinds(
  cut: readonly Faulty[],
  left: readonly Faulty[],
  written: ReadonlyMap<string, number>,
): void {
  const row = (cells: readonly (string | number)[], kind: string) =>
    console.log(`${cells.map((cell) => String(cell).padStart(11)).join('')}  ${kind}`);
  const of = (faults: readonly Faulty[], kind: string) =>
    faults.filter(({ reply }) => kindOf(reply) === kind).length;
  row(['replies', 'own cut', 'left over'], 'kind');
  for (const kind of OWN_KINDS) {
    row([written.get(kind) ?? 0, of(cut, kind), of(left, kind)], kind);
  }
}

function printBy(
  title: string,
  faults: readonly Faulty[],
  written: ReadonlyMap<string, number>,
  keyOf: (reply: GeneratedReply) => string,
): void {
  const counts = new Map<string, number>();
  for (const { reply } of faults) counts.set(keyOf(reply), (counts.get(keyOf(reply)) ?? 0) + 1);
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  console.log(`${title}: ${sorted.length === 0 ? 'none' : ''}`);
  for (const [key, faulty] of sorted) console.log(`  ${faulty} of ${written.get(key)}  ${key}`);
}

function describe({ client, language, posting, extras }: GeneratedReply): string {
  return [client, language, posting, ...extras].join(', ');
}
