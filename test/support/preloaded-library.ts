import { spawnSync } from 'node:child_process';

/** Compiles a library for LD_PRELOAD. @returns why it cannot be had; undefined when it is there */
export function buildPreloaded(source: string, library: string): string | undefined {
  if (process.platform !== 'linux') return 'not on Linux';
  const { error, status, stderr } = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-Wall', '-o', library, source, '-ldl'],
    { encoding: 'utf8' },
  );
  if (error !== undefined) return 'there is no C compiler (cc)';
  return status === 0 ? undefined : `it does not compile: ${stderr}`;
}
