import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ends } from './ends.ts';
import { tempDir } from './temp-dir.ts';

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** A user who owns nothing: `nobody` on most systems. */
export const NOBODY = 65_534;

/** Only root may run a program as somebody else. */
export const mayBeNobody = process.getuid?.() === 0;
if (!mayBeNobody) console.error('!! SKIPPED: files of another user: this user may not become one');

export interface Ended {
  readonly code: number | null;
  /** Of both streams. */
  readonly output: string;
}

export interface RunChoices {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  /** A program that runs node. */
  readonly wrapper?: readonly string[];
  /** Stops it by SIGTERM once it says so. */
  readonly until?: RegExp;
  /** Called once, with what it has said, before it is stopped. */
  readonly meanwhile?: (output: string) => Promise<void>;
}

/** Runs the built program in a clean environment until it ends. */
export async function runBuilt(choices: RunChoices): Promise<Ended> {
  const { args = ['serve'], env = {}, uid, wrapper = [], until, meanwhile } = choices;
  const [command = process.execPath, ...rest] = [...wrapper, process.execPath, MAIN, ...args];
  const child = spawn(command, rest, {
    env: { PATH: process.env['PATH'], ...env },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  ends(() => child.kill('SIGKILL'));
  let output = '';
  let isSeen = false;
  const failures: unknown[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (isSeen || until?.test(output) !== true) return;
      isSeen = true;
      Promise.resolve(meanwhile?.(output))
        .catch((error: unknown) => failures.push(error))
        .finally(() => child.kill('SIGTERM'));
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (failures.length > 0) throw failures[0];
  return { code, output };
}

/** A folder that others may look into, and a configuration that takes any free ports. */
export function openScene(): { path: string; dataDir: string; config: string } {
  const dir = tempDir();
  ends(() => dir.remove());
  chmodSync(dir.path, 0o755);
  const config = join(dir.path, 'sluice.yaml');
  const ports = ['smtp', 'http', 'admin', 'localPlatform'].map((part) => `${part}: {port: 0}\n`);
  writeFileSync(config, ports.join(''));
  return { path: dir.path, dataDir: join(dir.path, 'data'), config };
}
