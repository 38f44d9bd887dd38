import { readFileSync } from 'node:fs';

/** What the main thread may be busy with. */
export type Work = 'smtp' | 'texts' | 'chat' | 'http' | 'console' | 'platform' | 'agent' | 'other';

/** A turn of the event loop that took long. */
export interface SlowTurn {
  readonly work: Work;
  /** Processor time of the main thread, including up to a quarter of a second before the turn. */
  readonly ms: number;
}

const SLOW_MS = 500;
/** A slow turn covers one whole period, so it delays a look by at least as much. */
const LOOK_EVERY_MS = SLOW_MS / 2;

// Variables of the process, as there is one main thread.
let work: Work = 'other';
let since = 0;
let longest: Work = 'other';
let longestMs = 0;

/**
 * Each door calls it when it begins a unit of work. What the thread does asynchronously afterwards counts
 * as what was called last.
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
 * Looks for turns with more than 500 ms of processor time until `stop` is called. A thread that waits
 * for a processor is not slow, nor is one with many short turns.
 */
export function watchMainThread(onSlow: (turn: SlowTurn) => void): { readonly stop: () => void } {
  let usedMs = processorMs();
  let lookedAt = performance.now();
  since = lookedAt;
  longestMs = 0;
  const timer = setInterval(() => {
    const lateMs = performance.now() - lookedAt - LOOK_EVERY_MS;
    atWork('other');
    lookedAt = since;
    const now = processorMs();
    const ms = now - usedMs;
    if (lateMs >= LOOK_EVERY_MS && ms >= SLOW_MS) onSlow({ work: longest, ms: Math.round(ms) });
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
