/** How long the engine waits for what; tests are in more of a hurry. Milliseconds. */
export interface Timing {
  /** Between attempts to connect, at first and at most. */
  readonly reconnectMs: number;
  readonly maxReconnectMs: number;
  /** From the beginning of an attempt to the session. */
  readonly connectTimeoutMs: number;
  /** For the answer to an event. */
  readonly ackTimeoutMs: number;
  /** For a sign of life from a connection that may have died while the page slept. */
  readonly probeTimeoutMs: number;
  /** For how long a tab that does not answer any more keeps others from sending. */
  readonly leaseMs: number;
  /** Between what was looked at and telling the server. */
  readonly seenMs: number;
}

export const TIMING: Timing = {
  reconnectMs: 1_000,
  maxReconnectMs: 30_000,
  connectTimeoutMs: 12_000,
  ackTimeoutMs: 15_000,
  probeTimeoutMs: 5_000,
  leaseMs: 5_000,
  seenMs: 500,
};

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
