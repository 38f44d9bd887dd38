import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ends } from '../../support/ends.ts';
import { OTHER, SHOP } from '../harness.ts';

const MAIN = fileURLToPath(new URL('./platform-main.ts', import.meta.url));
const LOADER = new URL('../../../scripts/ts-loader.mjs', import.meta.url).href;

/** A local platform in a process of its own, which can be killed. */
export class PlatformProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts one on this folder and waits until it listens; it ends with the test. */
  static async start(dir: string): Promise<PlatformProcess> {
    const child = fork(MAIN, [dir, JSON.stringify([SHOP, OTHER])], {
      execArgv: ['--import', LOADER],
      // Without the environment variables that jest sets.
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit').then(([code, signal]: unknown[]) => {
      throw new Error(`it ended with ${String(code ?? signal)}`);
    });
    ended.catch(() => undefined);
    ends(() => child.kill('SIGKILL'));
    // `platform-main.ts` tells one thing, its address.
    const [url] = (await Promise.race([once(child, 'message'), ended])) as [string];
    return new PlatformProcess(child, url);
  }

  /** What a power cut does to a process. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
