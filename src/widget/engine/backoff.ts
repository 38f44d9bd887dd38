export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait before attempt `attempt` (from 0): doubled each time, and half of it by chance,
 * so that those who lost a server together do not come back together.
 */
export function backoffMs(
  attempt: number,
  { minMs, maxMs }: Backoff,
  random = Math.random,
): number {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30));
  return full / 2 + (random() * full) / 2;
}
