import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves with the first value that is not undefined or false; rejects after the deadline.
 * @param everyMs how often to look when what is waited for happens in another process, which
 *   needs the processor more than the looking does
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = 15_000,
  everyMs = 0,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    // What is left after the comparison is the narrowed type; the compiler cannot see it for T.
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await (everyMs > 0 ? delay(everyMs) : nextTurn());
  }
}
