import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StopStack } from '../../src/runtime/stop-stack.ts';
import { Part, type PartModule } from './part.ts';

/** Everything that one benchmark started, stopped in reverse order when it ends. */
export class Workbench {
  readonly #stack = new StopStack();

  onEnd(name: string, stop: () => Promise<void> | void): void {
    this.#stack.push(name, stop);
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    this.onEnd('folder', () => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    return folder;
  }

  async part<Module extends PartModule>(
    module: URL,
    options: Parameters<Module['start']>[0],
    nodeArguments: readonly string[] = [],
  ): Promise<Part<Module>> {
    const part = await Part.start<Module>(module, options, nodeArguments);
    this.onEnd(module.pathname, () => part.stop());
    return part;
  }

  async end(): Promise<void> {
    await this.#stack.unwind((name, error) => console.error(`could not stop ${name}:`, error));
  }
}

/** Runs a benchmark. Processes and folders are cleaned up even after Ctrl-C. */
export async function withWorkbench(work: (bench: Workbench) => Promise<void>): Promise<void> {
  const bench = new Workbench();
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => resolve('interrupted'));
    }
  });
  try {
    if ((await Promise.race([work(bench), interrupted])) === 'interrupted') process.exitCode = 130;
  } finally {
    await bench.end();
  }
  // Interrupted work may still wait for something that has been stopped.
  process.exit();
}
