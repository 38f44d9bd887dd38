const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The longest wait before each attempt; the last one repeats. */
const SCHEDULE = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR];

/**
 * Milliseconds until the next attempt, with full jitter: after an outage or a restart the waiting
 * entries come back spread out instead of all at once. A `Retry-After` is a lower bound.
 *
 * @param attempts attempts made so far, this one included; 1 or more
 * @param random a number in [0, 1)
 */
export function retryDelayMs(attempts: number, random: number, retryAfterMs = 0): number {
  const longest = SCHEDULE[Math.min(attempts, SCHEDULE.length) - 1] ?? HOUR;
  return Math.round(Math.min(retryAfterMs, HOUR) + random * longest);
}
