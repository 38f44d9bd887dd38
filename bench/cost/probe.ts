import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../support/wait-until.ts';
import type { Workbench } from '../support/workbench.ts';

const SCRIPT = new URL('./probe.mjs', import.meta.url);
const ANSWERS_WITHIN_MS = 10_000;

/** Figures by the thread's id, as text. */
type ByThread<Value> = ReadonlyMap<string, Value>;

/** Asks the threads of a node process, and those of its children, what they run and what they allocate. */
export class Probe {
  readonly #file: string;
  readonly #countsHeap: boolean;

  private constructor(file: string, countsHeap: boolean) {
    this.#file = file;
    this.#countsHeap = countsHeap;
  }

  /** @param countsHeap takes some memory of the process */
  static async make(bench: Workbench, countsHeap: boolean): Promise<Probe> {
    const file = join(await bench.folder(), 'threads');
    await writeFile(file, '');
    return new Probe(file, countsHeap);
  }

  /** The argument of node with which the process can be asked. Its children inherit it. */
  get nodeArgument(): string {
    const script = new URL(SCRIPT);
    script.searchParams.set('file', this.#file);
    if (this.#countsHeap) script.searchParams.set('heap', '');
    return `--import=${script.href}`;
  }

  /** The file that each thread runs; `main` for a main thread. */
  async programs(): Promise<ByThread<string>> {
    return new Map((await this.#lines('name')).map(([thread, name]) => [thread, name]));
  }

  /**
   * The bytes of heap that each thread has allocated until now, also of those that have ended. The content of Buffers
   * is not part of the heap. Nothing if the heap is not counted.
   */
  async allocated(pids: readonly number[]): Promise<ByThread<number>> {
    if (!this.#countsHeap) return new Map();
    const before = await this.#answers();
    const programs = await this.programs();
    const asked = pids.filter((pid) => programs.has(String(pid)));
    for (const pid of asked) process.kill(pid, 'SIGUSR2');
    await waitUntil('the threads to say what they allocated', ANSWERS_WITHIN_MS, async () => {
      const answers = await this.#answers();
      const hasAnswered = (thread: string): boolean =>
        (answers.get(thread) ?? 0) > (before.get(thread) ?? 0);
      const alive = (await Promise.all(asked.map(threadsOf))).flat();
      return alive.filter((id) => programs.has(id)).every(hasAnswered) ? true : undefined;
    });
    const lines = await this.#lines('heap');
    return new Map(lines.map(([thread, bytes]) => [thread, Number(bytes)]));
  }

  /** How often each thread has said what it allocated. */
  async #answers(): Promise<ByThread<number>> {
    const count = new Map<string, number>();
    for (const [thread] of await this.#lines('heap')) {
      count.set(thread, (count.get(thread) ?? 0) + 1);
    }
    return count;
  }

  async #lines(kind: 'name' | 'heap'): Promise<[thread: string, value: string][]> {
    const text = await readFile(this.#file, 'utf8');
    return [...text.matchAll(/^(\w+) (\d+) (.*)\n/gm)]
      .filter(([, of]) => of === kind)
      .map(([, , thread = '', value = '']) => [thread, value]);
  }
}

/** The ids of a process's threads; none once it has ended. */
export const threadsOf = (pid: number): Promise<string[]> =>
  readdir(`/proc/${pid}/task`).catch(() => []);
