// npm run check:patterns: every regular expression of src takes linear time (docs/decisions/0055). What
// recheck has called linear is kept in linear.txt by its hash; with --afresh it is asked again.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT, SRC } from '../workspace.mjs';
import { composedBy, patternsIn } from './literals.mjs';

const LINEAR = join(import.meta.dirname, 'linear.txt');
const CUT = join(import.meta.dirname, 'cut.json');
const MAX_CUT = 25;
/** How a text is cut, or refused for its length, and the bound as a constant or a number. */
const IS_CUT = /\.slice\(|\.length\b|Math\.min\(|cutText\(|cleanLine\(|toString\('\w+', \w+, \w+\)/;
const HAS_BOUND = /\b(?:[A-Z][A-Z_]{2,}|\d{2,})\b/;

const files = readdirSync(SRC, { recursive: true })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ path: join(SRC, file), text: readFileSync(join(SRC, file), 'utf8') }));
const written = files.flatMap(({ path, text }) => patternsIn(relative(ROOT, path), text));
const composed = await composedBy(whatComposes(), composeSamples);
const patterns = written.flatMap((pattern) => {
  const sources = composed.get(`${pattern.path}:${pattern.line}`);
  return pattern.source === undefined && sources !== undefined
    ? sources.map((each) => ({ ...pattern, ...each }))
    : [pattern];
});
const exceptions = JSON.parse(readFileSync(CUT, 'utf8'));
const before = new Set(
  process.argv.includes('--afresh') ? [] : readFileSync(LINEAR, 'utf8').split('\n'),
);
const linear = new Set();
const used = new Set();
const mistakes = [];
for (const pattern of patterns) {
  const exception = exceptions.find((one) => isOf(one, pattern));
  used.add(exception);
  if (exception === undefined) {
    const trouble = await troubleOf(pattern);
    if (trouble !== undefined) mistakes.push(`${shown(pattern)}: ${trouble}`);
  } else if (!isCutBy(exception, pattern)) {
    mistakes.push(`${shown(pattern)}: the cut that cut.json names does not stand before each use`);
  }
}
for (const exception of exceptions) {
  if (!used.has(exception)) mistakes.push(`cut.json: nothing is ${JSON.stringify(exception)}`);
}
if (exceptions.length > MAX_CUT) {
  mistakes.push(`cut.json has ${exceptions.length} entries; at most ${MAX_CUT} are allowed`);
}

/** Calls the functions that build patterns from their arguments. */
async function composeSamples() {
  const [{ readPerson }, { NeutralWords }, { parseInline }, { parsePlain }] = await Promise.all([
    import('../../src/cli/erase-person.ts'),
    import('../../src/channels/email/fixture/neutral-words.ts'),
    import('../../src/widget/ui/rich/inline.ts'),
    import('../../src/widget/ui/rich/plain.ts'),
  ]);
  parseInline('');
  parsePlain('');
  for (const person of ['ann@example.com', '+12025550142', 'visitor-0123']) readPerson(person, []);
  new NeutralWords(['注文'], new Map());
}

/** The files that compose patterns, and those that call a function of theirs. */
function whatComposes() {
  const own = written.filter(({ source }) => source === undefined).map(({ path }) => path);
  const names = new Set(own.map((path) => `/${basename(path)}'`));
  return files
    .filter(
      ({ path, text }) =>
        path.endsWith('.ts') &&
        !path.endsWith('worker.ts') &&
        (own.includes(relative(ROOT, path)) || [...names].some((name) => text.includes(name))),
    )
    .map(({ path }) => path);
}

async function troubleOf({ source, flags }) {
  if (source === undefined) return 'composed at run time';
  const hash = createHash('sha256').update(`${source}/${flags}`).digest('base64url').slice(0, 12);
  if (!before.has(hash) && !linear.has(hash)) {
    const { troubleWith } = await import('./linear.mjs');
    const trouble = troubleWith(source, flags);
    if (trouble !== undefined) return trouble;
  }
  linear.add(hash);
  return undefined;
}

function isOf({ file, pattern }, { path, source }) {
  return path === file && pattern === (source ?? 'RegExp');
}

function isCutBy({ cut }, { uses }) {
  return (
    IS_CUT.test(cut) &&
    HAS_BOUND.test(cut) &&
    uses.length > 0 &&
    uses.every((use) => use.includes(cut))
  );
}

function shown({ path, line, source }) {
  return `${path}:${line}${source === undefined ? '' : ` /${source}/`}`;
}

const kept = `${[...linear].toSorted().join('\n')}\n`;
// A run that looks only changes nothing.
if (process.env.CI === undefined && kept !== readFileSync(LINEAR, 'utf8'))
  writeFileSync(LINEAR, kept);
for (const mistake of mistakes) console.error(mistake);
console.error(
  `${patterns.length} regular expressions; ${exceptions.length} on text that is cut; ${mistakes.length} mistakes`,
);
if (mistakes.length > 0) {
  console.error('Write it in linear time, or cut the text before it and name the cut in cut.json.');
  process.exitCode = 1;
}
