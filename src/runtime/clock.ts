import { performance } from 'node:perf_hooks';

/** Milliseconds since the epoch. Passed in wherever time decides something. */
export type Clock = () => number;

/**
 * The time of day at start, moved forward by the monotonic clock. Leases and schedules read this
 * one: a wall clock that jumps would end every lease at once, or postpone every retry.
 */
export function createMonotonicClock(): Clock {
  const offset = Date.now() - performance.now();
  return () => Math.round(offset + performance.now());
}
