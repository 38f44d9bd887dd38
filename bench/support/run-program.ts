import { spawn } from 'node:child_process';

export interface ProgramRun {
  readonly seconds: number;
  readonly output: string;
}

/** Runs a program until it exits. @throws with its output when it fails */
export async function runProgram(command: string, args: readonly string[]): Promise<ProgramRun> {
  const started = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`${command} ended with ${code ?? 'a signal'}: ${output}`);
  return { seconds, output };
}
