const MINUTE_MS = 60_000;

export interface RetrySchedule {
  /** How long after its nth attempt a reply is tried again; the last one repeats. */
  readonly delaysMs: readonly number[];
  /** A reply that is older has lost its worth: the customer has given up, or has called. */
  readonly giveUpAfterMs: number;
}

export const RETRY_SCHEDULE: RetrySchedule = {
  delaysMs: [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS),
  giveUpAfterMs: 2 * 24 * 60 * MINUTE_MS,
};

/**
 * When to try again after `attempts` attempts; undefined when it is time to give up. Milliseconds
 * since the epoch.
 */
export function nextAttemptAt(
  { delaysMs, giveUpAfterMs }: RetrySchedule,
  reply: { readonly storedAtMs: number; readonly attempts: number },
  nowMs: number,
): number | undefined {
  const at = nowMs + (delaysMs[reply.attempts - 1] ?? delaysMs.at(-1) ?? 0);
  return at - reply.storedAtMs > giveUpAfterMs ? undefined : at;
}
