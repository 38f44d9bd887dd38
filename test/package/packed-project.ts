import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { z } from 'zod';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The package's name. */
export const { name: NAME } = z
  .object({ name: z.string() })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));

export interface Ran {
  readonly code: number;
  readonly output: string;
}

export function run(program: string, args: readonly string[], cwd: string, env = {}): Promise<Ran> {
  const { PATH, HOME } = process.env;
  const options = { cwd, env: { PATH, HOME, ...env } };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: stdout + stderr });
    });
  });
}

/**
 * The project of somebody who has installed the package, and what it depends on.
 * @param others packages that the project has besides
 */
export async function install(dir: string, others: readonly string[]): Promise<void> {
  const modules = join(dir, 'node_modules');
  mkdirSync(modules);
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', dir], ROOT);
  expect(packed.code).toBe(0);
  const archive = /\S+\.tgz/.exec(packed.output)?.[0] ?? '';
  const unpacked = await run('tar', ['xzf', archive], dir);
  expect(unpacked).toEqual({ code: 0, output: '' });
  mkdirSync(dirname(join(modules, NAME)), { recursive: true });
  await run('mv', ['package', join(modules, NAME)], dir);
  const manifest = JSON.parse(readFileSync(join(modules, NAME, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(manifest.dependencies), ...others]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(dir, 'package.json'), '{"type": "module"}');
}
