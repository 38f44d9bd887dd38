// Compiles src/ to dist/ and keeps the two in step: a file whose source is gone goes too. Files
// stay in place while they are compiled anew, so that a program that runs from dist/ goes on.
import { cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  BUNDLED_THREADS,
  DIST,
  filesBelow,
  installWhenNeeded,
  modifiedAt,
  ROOT,
  run,
  SRC,
} from './workspace.mjs';

const BUILD_INFO = join(DIST, '.tsbuildinfo');
const STAMP = join(DIST, '.built');
/** The types of what the package exports, and of nothing else. */
const DECLARATIONS = join(DIST, 'declarations');

/** The widget, the console's page and the program are bundles, not file by file. */
const isBundled = (file) => /^(?:widget|console\/page|program)\//.test(file);

/** What dist/ has to hold, by source. Whatever is not TypeScript is copied. */
function outputsOf(source) {
  if (source.endsWith('.d.ts') || isBundled(source)) return [];
  if (!source.endsWith('.ts')) return [source];
  const base = source.slice(0, -'.ts'.length);
  const compiled = [`${base}.js`, `${base}.js.map`];
  return BUNDLED_THREADS.includes(base) ? [...compiled, `${base}.licenses.md`] : compiled;
}

const compiledFiles = () =>
  filesBelow(DIST).filter(
    (file) => !/^(?:\.|declarations\/|package\/)/.test(file) && !isBundled(file),
  );

/** Whether dist/ is older than what it is made of. */
export function isStale() {
  const built = modifiedAt(STAMP);
  const sources = filesBelow(SRC);
  const inputs = [
    ...sources.map((source) => join(SRC, source)),
    join(ROOT, 'tsconfig.json'),
    join(ROOT, 'tsconfig.package.json'),
    join(ROOT, 'node_modules/.package-lock.json'),
  ];
  if (inputs.some((file) => modifiedAt(file) > built)) return true;
  const expected = new Set(sources.flatMap(outputsOf));
  const present = compiledFiles();
  return present.length !== expected.size || present.some((file) => !expected.has(file));
}

const compile = (project) =>
  run(process.execPath, ['node_modules/@typescript/native-preview/bin/tsgo', '-p', project]);

const script = (name) => run(process.execPath, [`scripts/${name}.mjs`]);
const STEPS = [
  ['compile the gateway', () => compile('tsconfig.json')],
  ['types of the package', () => compile('tsconfig.package.json')],
  ["the widget's package", () => compile('src/widget/package/tsconfig.json')],
  ['bundle the gateway', () => script('build-bundles')],
  ['bundle the widget', () => script('build-widget')],
  ['bundle the console', () => script('build-console')],
];

/** Says what each step does. @returns the exit code of the first that fails, or 0 */
function runSteps() {
  for (const [index, [name, step]] of STEPS.entries()) {
    console.error(`Building (${index + 1} of ${STEPS.length}): ${name} ...`);
    const code = step();
    if (code !== 0) return code;
  }
  return 0;
}

/** Returns the exit code of the step that failed, or 0. */
export function build() {
  const startedAt = new Date();
  const sources = filesBelow(SRC);
  const expected = new Set(sources.flatMap(outputsOf));
  for (const file of compiledFiles()) {
    if (!expected.has(file)) rmSync(join(DIST, file));
  }
  // The compiler believes its own record: without an output, the record has to go as well.
  if ([...expected].some((file) => !existsSync(join(DIST, file))))
    rmSync(BUILD_INFO, { force: true });
  rmSync(DECLARATIONS, { recursive: true, force: true });
  const code = runSteps();
  const assets = sources.filter((source) => !source.endsWith('.ts') && !isBundled(source));
  for (const asset of assets) {
    mkdirSync(dirname(join(DIST, asset)), { recursive: true });
    cpSync(join(SRC, asset), join(DIST, asset));
  }
  if (code === 0) {
    writeFileSync(STAMP, '');
    // A source that is saved during the build is newer than the build.
    utimesSync(STAMP, startedAt, startedAt);
  } else {
    rmSync(STAMP, { force: true });
  }
  return code;
}

if (process.argv[1] === import.meta.filename) {
  await installWhenNeeded({ withTests: false });
  process.exit(build());
}
