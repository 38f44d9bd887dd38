// npm run bench: lists the benchmarks; npm run bench -- cost [arguments] runs one of them.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, isStale } from './build.mjs';
import { installWhenNeeded } from './install.mjs';
import { ROOT, run } from './workspace.mjs';

const BENCH = join(ROOT, 'bench');

/** A benchmark is a file bench/NAME.mjs or NAME.ts, or a folder bench/NAME with a main file. */
function programOf(name) {
  const candidates = [`${name}.mjs`, `${name}.ts`, `${name}/main.mjs`, `${name}/main.ts`];
  return candidates.map((file) => join(BENCH, file)).find((file) => existsSync(file));
}

function benchmarks() {
  if (!existsSync(BENCH)) return [];
  const names = readdirSync(BENCH).map((file) => file.replace(/\.(?:mjs|ts)$/, ''));
  return [...new Set(names)].filter((name) => programOf(name) !== undefined).sort();
}

const [name, ...args] = process.argv.slice(2);
const program = name === undefined ? undefined : programOf(name);
if (program === undefined) {
  if (name !== undefined) console.error(`There is no benchmark ${name}.`);
  console.error(
    `Benchmarks:\n${benchmarks()
      .map((each) => `  npm run bench -- ${each}`)
      .join('\n')}`,
  );
  process.exit(name === undefined ? 0 : 2);
}
await installWhenNeeded();
if (isStale()) {
  const code = build();
  if (code !== 0) process.exit(code);
}
const loader = ['--enable-source-maps', '--import', './scripts/ts-loader.mjs'];
process.exit(run(process.execPath, [...(program.endsWith('.ts') ? loader : []), program, ...args]));
