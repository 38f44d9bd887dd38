import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves with the first value that is not undefined or false; rejects after the deadline. */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = 15_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    // What is left after the comparison is the narrowed type; the compiler cannot see it for T.
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await nextTurn();
  }
}
