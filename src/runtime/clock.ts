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
