// Compiles src/ to dist/ and keeps the two in step: a file whose source is gone goes too. Files
// stay in place while they are compiled anew, so that a program that runs from dist/ goes on.
import { cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installWhenNeeded } from './install.mjs';
import { BUNDLED_THREADS, DIST, filesBelow, modifiedAt, ROOT, run, SRC } from './workspace.mjs';

const BUILD_INFO = join(DIST, '.tsbuildinfo');
const STAMP = join(DIST, '.built');
/** Left by a build of what a start needs. */
const STAMP_TO_START = join(DIST, '.built-to-start');
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

/** Whether dist/, or what a start needs of it, is older than what it is made of. */
export function isStale({ toStart = false } = {}) {
  const built = Math.max(modifiedAt(STAMP), toStart ? modifiedAt(STAMP_TO_START) : 0);
  const sources = filesBelow(SRC);
  const inputs = [
    ...sources.map((source) => join(SRC, source)),
    join(ROOT, 'tsconfig.json'),
    join(ROOT, 'tsconfig.package.json'),
    join(ROOT, 'node_modules/.package-lock.json'),
  ];
  if (inputs.some((file) => modifiedAt(file) > built)) return true;
  if (toStart) return false;
  const expected = new Set(sources.flatMap(outputsOf));
  const present = compiledFiles();
  return present.length !== expected.size || present.some((file) => !expected.has(file));
}

const compile = (project) =>
  run(process.execPath, ['node_modules/@typescript/native-preview/bin/tsgo', '-p', project]);

const script = (name, ...args) => run(process.execPath, [`scripts/${name}.mjs`, ...args]);
/** What a start needs, in the order of need. */
const TO_START = [
  ['the gateway', () => compile('tsconfig.json')],
  ['the widget', (toStart) => script('build-widget', ...(toStart ? [] : ['--sizes']))],
  ['the console', () => script('build-console')],
];
/** What a package has besides. */
const PACKAGED = [
  ['types of the package', () => compile('tsconfig.package.json')],
  ["the widget's package", () => compile('src/widget/package/tsconfig.json')],
  ['bundles of the gateway', () => script('build-bundles')],
];

/** Says what each step does. @returns the exit code of the first that fails, or 0 */
function runSteps(steps, toStart) {
  for (const [index, [name, step]] of steps.entries()) {
    console.error(`Building (${index + 1} of ${steps.length}): ${name} ...`);
    const code = step(toStart);
    if (code !== 0) return code;
  }
  return 0;
}

/**
 * @param toStart only what a start needs
 * @returns the exit code of the step that failed, or 0
 */
export function build({ toStart = false } = {}) {
  const startedAt = new Date();
  const sources = filesBelow(SRC);
  const expected = new Set(sources.flatMap(outputsOf));
  for (const file of compiledFiles()) {
    if (!expected.has(file)) rmSync(join(DIST, file));
  }
  // The compiler believes its own record: without an output, or where a bundle has taken its place, the
  // record has to go as well.
  if (toStart || [...expected].some((file) => !existsSync(join(DIST, file))))
    rmSync(BUILD_INFO, { force: true });
  rmSync(DECLARATIONS, { recursive: true, force: true });
  const code = runSteps(toStart ? TO_START : [...TO_START, ...PACKAGED], toStart);
  const assets = sources.filter((source) => !source.endsWith('.ts') && !isBundled(source));
  for (const asset of assets) {
    mkdirSync(dirname(join(DIST, asset)), { recursive: true });
    cpSync(join(SRC, asset), join(DIST, asset));
  }
  for (const stamp of [STAMP, STAMP_TO_START]) rmSync(stamp, { force: true });
  if (code === 0) {
    const stamp = toStart ? STAMP_TO_START : STAMP;
    writeFileSync(stamp, '');
    // A source that is saved during the build is newer than the build.
    utimesSync(stamp, startedAt, startedAt);
  }
  return code;
}

if (process.argv[1] === import.meta.filename) {
  await installWhenNeeded({ withTests: false });
  process.exit(build());
}
