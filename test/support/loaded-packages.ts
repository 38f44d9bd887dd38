import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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
 * @returns how it ended, and the packages that our own code or another module imported; what a
 * CommonJS package requires in turn is not among them
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
  const names = readFileSync(file, 'utf8').matchAll(/\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/g);
  return { status, packages: [...new Set([...names].map(([, name = '']) => name))].toSorted() };
}
