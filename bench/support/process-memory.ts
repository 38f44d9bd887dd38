import { readFile, writeFile } from 'node:fs/promises';
import { processFamily } from './process-family.ts';

/** Short enough to catch child processes; the kernel records each process's own peak. */
const SAMPLE_EVERY_MS = 50;
const MIB = 1024 * 1024;

/** Measures the resident memory of a process with all its threads and children. */
export class ProcessMemory {
  readonly #pid: number;
  #timer: NodeJS.Timeout | undefined;
  #sampled = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** The current resident memory in bytes. */
  async resident(): Promise<number> {
    const pids = await processFamily(this.#pid);
    const all = await Promise.all(pids.map((pid) => statusBytes(pid, 'VmRSS')));
    return all.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Resets the peak and starts sampling. */
  async watch(): Promise<void> {
    // proc(5): 5 resets the peak resident set size (VmHWM) to the current one.
    await writeFile(`/proc/${this.#pid}/clear_refs`, '5');
    this.#timer = setInterval(() => {
      this.resident().then(
        (bytes) => {
          this.#sampled = Math.max(this.#sampled, bytes);
        },
        () => undefined,
      );
    }, SAMPLE_EVERY_MS);
  }

  /** The peak resident memory since `watch`, in bytes. */
  async peak(): Promise<number> {
    clearInterval(this.#timer);
    return Math.max(this.#sampled, await statusBytes(this.#pid, 'VmHWM'));
  }
}

export const toMiB = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MB`;

async function statusBytes(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}
