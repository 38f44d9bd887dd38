import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A library to be preloaded into a gateway, or why there is none. */
export type Preload = { readonly library: string } | { readonly why: string };

/**
 * Compiles a library of `test/durability/` (LD_PRELOAD).
 * @param name of the source, without `.c`
 */
export function buildPreload(name: string, folder: string): Preload {
  if (process.platform !== 'linux') return { why: 'not on Linux' };
  const source = fileURLToPath(new URL(`../durability/${name}.c`, import.meta.url));
  const library = join(folder, `${name}.so`);
  const { error, status, stderr } = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-Wall', '-o', library, source, '-ldl', '-lpthread'],
    { encoding: 'utf8' },
  );
  if (error !== undefined) return { why: 'there is no C compiler (cc)' };
  return status === 0 ? { library } : { why: `it does not compile: ${stderr}` };
}
