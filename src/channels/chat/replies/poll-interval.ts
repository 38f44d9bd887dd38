export const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
/** For this long after the last sign of life an answer is expected at any moment. */
const WAITING_MS = 2 * 60_000;

/**
 * How long to wait before a visitor's conversations are read again: a second while he waits for an
 * answer, then ever longer, up to a quarter of a minute after half an hour.
 * @param quietMs since the visitor wrote or was answered
 */
export function pollIntervalMs(quietMs: number, fastestMs = FASTEST_MS): number {
  if (quietMs <= WAITING_MS) return fastestMs;
  return Math.min(SLOWEST_MS, Math.round((fastestMs * quietMs) / WAITING_MS));
}

/** How long to leave a shop's platform alone after so many failures in a row. */
export function backoffMs(failures: number): number {
  return Math.min(30_000, FASTEST_MS * 2 ** Math.min(failures - 1, 10));
}
