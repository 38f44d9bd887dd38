import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** What happens in this process has happened by then, mostly. */
const EVERY_TURN_MS = 5;
/** Another process needs the processor more than the looking does. */
const LOOK_EVERY_MS = 5;

/** Long, because a busy machine can be ten times slower. */
export const DEADLINE_MS = 150_000;

/**
 * Resolves with the first value that is not undefined or false; rejects after the deadline.
 * @param everyMs how often to look when that is not cheap
 * @param timeoutMs only where the time is what the caller is about
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  everyMs = 0,
  timeoutMs = DEADLINE_MS,
): Promise<Exclude<T, undefined | false>> {
  const started = performance.now();
  for (;;) {
    const value = await probe();
    // What is left after the comparison is the narrowed type; the compiler cannot see it for T.
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    const waited = performance.now() - started;
    if (waited > timeoutMs) throw new Error(`waited in vain for ${what}`);
    if (everyMs > 0) await delay(everyMs);
    else await (waited < EVERY_TURN_MS ? nextTurn() : delay(LOOK_EVERY_MS));
  }
}
