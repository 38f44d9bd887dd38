import { expect } from '@jest/globals';

/**
 * Checks the processor time of `work`, which other work on the machine changes little; the clock on
 * the wall it may change tenfold. For inputs that a reader with a fault needs minutes for: the limit
 * is many times what the work takes.
 */
export async function withinProcessorTime<Result>(
  limitMs: number,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const started = process.cpuUsage();
  try {
    return await work();
  } finally {
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(limitMs);
  }
}
