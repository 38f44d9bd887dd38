import { readFileSync } from 'node:fs';

/** What the main thread may be busy with. */
export type Work = 'smtp' | 'texts' | 'chat' | 'http' | 'console' | 'platform' | 'other';

/** A turn of the event loop that took long. */
export interface SlowTurn {
  readonly work: Work;
  /** Processor time of the main thread, with that of the at most half a second before the turn. */
  readonly ms: number;
}

const SLOW_MS = 500;
/** Each look wakes a gateway at rest. */
const LOOK_EVERY_MS = 500;

// Variables of the process, as there is one main thread.
let work: Work = 'other';
let since = 0;
let longest: Work = 'other';
let longestMs = 0;

/**
 * Each door calls it when it begins a unit of work. What the thread does asynchronously afterwards counts as
 * what was called last.
 */
export function atWork(next: Work): void {
  const now = performance.now();
  if (now - since > longestMs) {
    longest = work;
    longestMs = now - since;
  }
  work = next;
  since = now;
}

/**
 * Looks for turns with more than 500 ms of processor time until `stop` is called. A thread that waits for a
 * processor is not slow.
 */
export function watchMainThread(onSlow: (turn: SlowTurn) => void): { readonly stop: () => void } {
  let usedMs = processorMs();
  since = performance.now();
  longestMs = 0;
  const timer = setInterval(() => {
    atWork('other');
    const now = processorMs();
    const ms = now - usedMs;
    if (longestMs >= SLOW_MS && ms >= SLOW_MS) onSlow({ work: longest, ms: Math.round(ms) });
    usedMs = now;
    longestMs = 0;
  }, LOOK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Processor time of the main thread: proc(5), `/proc/<pid>/task/<tid>/schedstat`. Elsewhere than on Linux, that of
 * the process.
 */
function processorMs(): number {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
    return Number(stat.slice(0, stat.indexOf(' '))) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
