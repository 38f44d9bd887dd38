import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Processor time in milliseconds. */
export interface ThreadTimes {
  readonly main: number;
  /** Of all other threads together. */
  readonly others: number;
}

/** proc(5), `/proc/<pid>/task/<tid>/schedstat`: the first number is nanoseconds on the processor. */
export function threadTimes(pid: number): ThreadTimes {
  const times = { main: 0, others: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    times[Number(thread) === pid ? 'main' : 'others'] += threadMs(pid, thread);
  }
  return times;
}

const LOOK_EVERY_MS = 10;
const QUIET_LOOKS = 3;

/** Resolves when no thread of the process has worked, or waited for a processor, for a while. */
export async function whenIdle(pid: number): Promise<void> {
  let before = threadTimes(pid);
  for (let quiet = 0; quiet < QUIET_LOOKS;) {
    await delay(LOOK_EVERY_MS);
    const now = threadTimes(pid);
    const used = now.main + now.others - before.main - before.others;
    quiet = used < 1 && !isWaiting(pid) ? quiet + 1 : 0;
    before = now;
  }
}

/** proc(5), `/proc/<pid>/task/<tid>/stat`: R is running or runnable. */
function isWaiting(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).some((thread) => {
    // The thread that looks is running.
    if (Number(thread) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').includes(') R ');
    } catch {
      return false;
    }
  });
}

/** Processor time in milliseconds; a thread that has ended meanwhile has none. */
export function threadMs(pid: number, thread: string): number {
  try {
    const [ns = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(ns) / 1e6;
  } catch {
    return 0;
  }
}
