import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The operations of a part's process. Arguments and results are structured clones. */
export type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

/** A module that runs in a process of its own: its `start` returns its operations. */
export interface PartModule {
  readonly start: (options: never) => Promise<Operations>;
}

export interface Ask {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type OperationsOf<Module extends PartModule> = Awaited<ReturnType<Module['start']>>;

const MAIN = fileURLToPath(new URL('./part-main.ts', import.meta.url));
const LOADER = new URL('../../scripts/ts-loader.mjs', import.meta.url).href;
const KILL_AFTER_MS = 5000;

/**
 * One part of a benchmark (a baseline, a load generator, the platform) in a process of its own, so
 * that it shares neither threads nor memory with what is measured. It exits with this process in
 * every case.
 */
export class Part<Module extends PartModule> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when the module's `start` has resolved. */
  static async start<Module extends PartModule>(
    module: URL,
    options: Parameters<Module['start']>[0],
    nodeArguments: readonly string[] = [],
  ): Promise<Part<Module>> {
    const child = fork(MAIN, [module.href, JSON.stringify([options])], {
      execArgv: ['--enable-source-maps', '--import', LOADER, ...nodeArguments],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const part = new Part<Module>(child);
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.on('message', (told) => {
        // Sent by part-main.ts, the only program that this class runs.
        const message = told as Told;
        if (message.kind === 'ready') resolve();
        else part.#settle(message);
      });
      child.once('exit', (code, signal) => {
        const error = new Error(`${module.pathname} ended (${code ?? signal})`);
        reject(error);
        for (const { reject: fail } of part.#waiting.values()) fail(error);
        part.#waiting.clear();
      });
    });
    return part;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  call<Name extends keyof OperationsOf<Module> & string>(
    name: Name,
    ...args: Parameters<OperationsOf<Module>[Name]>
  ): Promise<Awaited<ReturnType<OperationsOf<Module>[Name]>>> {
    const id = ++this.#lastId;
    const ask: Ask = { id, name, args };
    return new Promise((resolve, reject) => {
      // The other process answers call `id` with the result of operation `name` of this module.
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send(ask, (error) => {
        if (error) reject(error);
      });
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
    await exited;
    clearTimeout(timer);
  }

  #settle(message: Exclude<Told, { kind: 'ready' }>): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'result') waiting?.resolve(message.value);
    else waiting?.reject(new Error(message.message));
  }
}
