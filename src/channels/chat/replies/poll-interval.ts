export const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
/** For this long after the last sign of life an answer is expected at any moment. */
const WAITING_MS = 2 * 60_000;

/** An agent who has answered may say a second thing. */
const FOLLOW_UP_MS = 60_000;
const ANSWERED_MS = 5_000;

/**
 * How long to wait before a visitor's conversations are read again: a second while he waits for an
 * answer, a few once he has it, then ever longer, up to a quarter of a minute after half an hour.
 * @param quietMs since the visitor wrote, came or was answered
 * @param isAnswered nothing was written since the last reply
 */
export function pollIntervalMs(
  quietMs: number,
  fastestMs = FASTEST_MS,
  isAnswered = false,
): number {
  const shortest =
    isAnswered && quietMs > FOLLOW_UP_MS ? (fastestMs * ANSWERED_MS) / FASTEST_MS : fastestMs;
  if (quietMs <= WAITING_MS) return shortest;
  const growing = Math.max(shortest, Math.round((fastestMs * quietMs) / WAITING_MS));
  return Math.min(SLOWEST_MS, growing);
}

/** How long to leave a shop's platform alone after so many failures in a row. */
export function backoffMs(failures: number): number {
  return Math.min(30_000, FASTEST_MS * 2 ** Math.min(failures - 1, 10));
}
