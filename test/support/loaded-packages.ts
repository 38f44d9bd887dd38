import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ends } from './ends.ts';
import { tempDir } from './temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/**
 * Writes down the address of every module that an import asks for, in worker threads as well, most
 * of which have no environment.
 */
const hooks = (file: string): string => `
import { appendFileSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  appendFileSync(${JSON.stringify(file)}, found.url + '\\n');
  return found;
}`;
const asModule = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
const registering = (file: string): string =>
  asModule(
    `import { register } from 'node:module'; register(${JSON.stringify(asModule(hooks(file)))});`,
  );

/**
 * Runs a command line of the built program to its end.
 * @returns how it ended, and the packages in the parts of the program that were loaded, and those that our own code or
 * another module imported; what a CommonJS package outside of the program requires in turn is not among them
 */
export function loadedPackages(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { readonly status: number | null; readonly packages: readonly string[] } {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'imported');
  writeFileSync(file, '');
  const { status } = spawnSync(process.execPath, ['--import', registering(file), MAIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'ignore',
  });
  const urls = new Set(readFileSync(file, 'utf8').trim().split('\n'));
  const packages = new Set([...urls].flatMap(sourcesOf).flatMap(packageOf));
  return { status, packages: [...packages].toSorted() };
}

/** Of a part of the bundled program or a bundled thread, the modules that it was made of. */
function sourcesOf(url: string): readonly string[] {
  if (!url.includes('/dist/')) return [url];
  const map = new URL(`${url}.map`);
  // The bundler's own functions have no source.
  if (!existsSync(map)) return [];
  return (JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] }).sources;
}

const packageOf = (source: string): readonly string[] =>
  /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.slice(1) ?? [];
