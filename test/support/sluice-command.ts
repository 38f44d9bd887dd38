import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../src/cli/run.ts';
import { captureTerminal } from './capture-terminal.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Told {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program. */
export function sluice(args: readonly string[], env: Record<string, string> = {}): Promise<Told> {
  return new Promise((resolve) => {
    const all = { PATH: process.env['PATH'] ?? '', ...env };
    execFile(process.execPath, [MAIN, ...args], { env: all }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** The same command line without a process of its own: the program's start takes a second. */
export async function sluiceHere(args: readonly string[]): Promise<Told> {
  const terminal = captureTerminal();
  const events = Object.assign(new EventEmitter(), { exit: () => undefined });
  const code = await runCli(args, terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}
