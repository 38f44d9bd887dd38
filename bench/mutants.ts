// npm run bench -- mutants [--seed 1] [--count 60] [--all] [--results FILE]: changes one place of delivery, the store,
// intake or the doors at a time, in a copy of the last commit, and runs the tests that import the file, the nearest
// first, until one fails. With --all the slow ones, too. Each answer is added to the file of results (by default in the
// system's temporary folder); what is there already is not run again. Exits with 1 if it could not run.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Dice } from '../test/support/dice.ts';
import { type Mutation, mutationsIn, shuffled } from './support/mutations.ts';
import { runProgram } from './support/run-program.ts';
import { withWorkbench } from './support/workbench.ts';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '60' },
    all: { type: 'boolean', default: false },
    results: { type: 'string' },
  },
});
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [seed, count] = [Number(options.seed), Number(options.count)];
const results = options.results ?? join(tmpdir(), `sluice-mutants-${seed}.jsonl`);

/** Where messages pass. */
const ROOMS = /^src\/(?:delivery|spool|intake|channels\/(?:chat|email|sms))\//;
/** What reads a message, and what composes replies, is no door. */
const READING = /\/(?:normalize|view|replies|fixture)(?:\/|\.ts$)/;
const NEAREST = 12;
/** An endless loop. */
const ENDS_WITHIN_MS = 15 * 60_000;

type Verdict = 'killed' | 'endless' | 'survived' | 'does not compile';
interface Result extends Mutation {
  readonly n: number;
  readonly verdict: Verdict;
  /** The file of tests that failed. */
  readonly by?: string;
}

/** Ends with all processes that it has started. */
async function run(folder: string, args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    ...{ cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] as const },
  });
  const end = (): boolean => process.kill(-(child.pid ?? 0), 'SIGKILL');
  const endless = setTimeout(end, ENDS_WITHIN_MS);
  const [[code], output, errors] = await Promise.all([
    once(child, 'exit') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  clearTimeout(endless);
  try {
    end();
  } catch {
    // None is left.
  }
  return { code, output, errors };
}

const jest = (folder: string, args: readonly string[]) =>
  run(folder, ['node_modules/jest/bin/jest.js', ...args]);

/** How many folders two files share, after the first: `test/` mirrors `src/`. */
function nearness(file: string, test: string): number {
  const [ours, theirs] = [file, test].map((path) => path.split('/').slice(1));
  const same = ours?.findIndex((part, n) => theirs?.[n] !== part) ?? 0;
  return theirs?.at(-1)?.startsWith(`${ours?.at(-1)?.replace(/\.ts$/, '')}.`) ? 100 : same;
}

async function testsOf(folder: string, file: string): Promise<string[]> {
  const { output } = await jest(folder, ['--findRelatedTests', file, '--listTests']);
  return output
    .split('\n')
    .filter((line) => line.endsWith('.test.ts'))
    .filter((line) => options.all || !line.endsWith('.slow.test.ts'))
    .map((line) => relative(folder, line))
    .toSorted((a, b) => nearness(file, b) - nearness(file, a));
}

async function verdictOn(
  folder: string,
  { file }: Mutation,
): Promise<Pick<Result, 'verdict' | 'by'>> {
  const types = await run(folder, ['node_modules/@typescript/native-preview/bin/tsgo', '-p', '.']);
  if (types.code !== 0) return { verdict: 'does not compile' };
  await rebuild(folder);
  const tests = await testsOf(folder, file);
  for (const some of [tests.slice(0, NEAREST), tests.slice(NEAREST)]) {
    if (some.length === 0) continue;
    const { code, errors } = await jest(folder, ['--bail', '--runTestsByPath', ...some]);
    if (code === null) return { verdict: 'endless' };
    const [, by] = /^FAIL (\S+)/m.exec(errors) ?? [];
    if (code !== 0) return { verdict: 'killed', ...(by !== undefined && { by }) };
  }
  return { verdict: 'survived' };
}

/** Threads run from bundles. */
async function rebuild(folder: string): Promise<void> {
  await run(folder, ['scripts/build-bundles.mjs']);
}

const sound = new Set<string>();

/** @throws {Error} a file of tests fails without any change, so it kills nothing */
async function assertSound(folder: string, file: string): Promise<void> {
  if (sound.has(file)) return;
  const { code, errors } = await jest(folder, ['--runTestsByPath', file]);
  if (code !== 0) throw new Error(`${file} fails without any change:\n${errors}`);
  sound.add(file);
}

await withWorkbench(async (bench) => {
  const place = await bench.folder();
  // PostgreSQL runs as another user.
  chmodSync(place, 0o755);
  const folder = join(place, 'copy');
  await runProgram('git', ['-C', ROOT, 'worktree', 'add', '--detach', folder]);
  bench.onEnd('copy', async () => {
    await runProgram('git', ['-C', ROOT, 'worktree', 'remove', '--force', folder]);
  });
  await runProgram('cp', ['-al', join(ROOT, 'node_modules'), folder]);
  // By the time of this file the packages are known to be those of the lock file.
  const installed = join('node_modules', '.package-lock.json');
  rmSync(join(folder, installed));
  copyFileSync(join(ROOT, installed), join(folder, installed));
  await run(folder, ['scripts/build.mjs']);
  const rooms = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => `src/${file}`)
    .filter((file) => ROOMS.test(file) && !READING.test(file) && /(?<!\.d)\.ts$/.test(file))
    .toSorted();
  const all = shuffled(
    rooms.flatMap((file) => mutationsIn(folder, file)),
    Dice.of(seed),
  );
  console.log(`${all.length} places in ${rooms.length} files; results in ${results}`);
  const known = existsSync(results) ? readFileSync(results, 'utf8').trim().split('\n') : [];
  // Written below.
  const done = new Map(known.map((line) => JSON.parse(line) as Result).map((one) => [one.n, one]));
  let valid = 0;
  for (const [n, mutation] of all.entries()) {
    if (valid === count) break;
    const path = join(folder, mutation.file);
    const source = readFileSync(path, 'utf8');
    const { start, from, to, line, file } = mutation;
    let result = done.get(n);
    if (result === undefined) {
      writeFileSync(path, source.slice(0, start) + to + source.slice(start + from.length));
      result = { n, ...mutation, ...(await verdictOn(folder, mutation)) };
      writeFileSync(path, source);
      if (result.verdict !== 'does not compile') await rebuild(folder);
      if (result.by !== undefined) await assertSound(folder, result.by);
      done.set(n, result);
      appendFileSync(results, `${JSON.stringify(result)}\n`);
    }
    if (result.verdict !== 'does not compile') valid += 1;
    console.log(
      `${n} ${result.verdict} ${file}:${line} ${JSON.stringify(from)} → ${to} ${result.by ?? ''}`,
    );
  }
  const killed = [...done.values()].filter(({ verdict }) => /killed|endless/.test(verdict)).length;
  console.log(`${killed} of ${valid} killed`);
});
