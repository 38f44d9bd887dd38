import { performance } from 'node:perf_hooks';

/** Returns milliseconds since the epoch. Passed to all code that depends on time. */
export type Clock = () => number;

/**
 * The time of day at the start, advanced by the monotonic clock. Leases and schedules use it,
 * because a jump of the wall clock would end every lease at once or postpone every retry.
 */
export function createMonotonicClock(): Clock {
  const offset = Date.now() - performance.now();
  return () => Math.round(offset + performance.now());
}

/**
 * Runs `work` about every `ms`, at moments that all callers with this `ms` share: an idle process then wakes up once for
 * all of them, and each time costs it about 0.1 ms of processor time.
 * @returns ends it
 */
export function everyInStep(ms: number, work: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    timer = setTimeout(run, untilStep(ms, performance.now())).unref();
  };
  const run = (): void => {
    wait();
    work();
  };
  wait();
  return () => clearTimeout(timer);
}

/** How long to wait for a moment that is a multiple of `ms`: between half of `ms` and one and a half. */
export function untilStep(ms: number, now: number): number {
  const sinceStep = now % ms;
  // A timer may fire slightly early, and must not fire again at the very step.
  return sinceStep < ms / 2 ? ms - sinceStep : 2 * ms - sinceStep;
}

/**
 * The result of `work`, or of `late` after this time. The work is not interrupted; if it fails
 * later, the error is ignored.
 */
export async function withinMs<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
