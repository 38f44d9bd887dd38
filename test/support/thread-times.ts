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
    times[Number(thread) === pid ? 'main' : 'others'] += timeOf(pid, thread);
  }
  return times;
}

/** Resolves when the process has used less than a millisecond for 20 ms: it has done all. */
export async function whenIdle(pid: number): Promise<void> {
  for (let before = threadTimes(pid); ;) {
    await delay(20);
    const now = threadTimes(pid);
    if (now.main + now.others - before.main - before.others < 1) return;
    before = now;
  }
}

/** A thread that has ended meanwhile has no time. */
function timeOf(pid: number, thread: string): number {
  try {
    const [ns = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(ns) / 1e6;
  } catch {
    return 0;
  }
}
