/** How long the engine waits, in milliseconds; tests use shorter times. */
export interface Timing {
  /** Between attempts to connect: the first wait, and the longest. */
  readonly reconnectMs: number;
  readonly maxReconnectMs: number;
  /** From the start of an attempt to the `session` event. */
  readonly connectTimeoutMs: number;
  /** For the answer to an event. */
  readonly ackTimeoutMs: number;
  /** For the answer on a connection that may have been lost while the page was suspended. */
  readonly probeTimeoutMs: number;
  /** How long a tab that has stopped responding keeps other tabs from sending. */
  readonly leaseMs: number;
  /** From marking lines as seen to telling the server. */
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

interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait before attempt `attempt` (from 0): doubled each time, and half of it random, so
 * that clients which lost the server together do not reconnect at the same moment.
 */
export function backoffMs(
  attempt: number,
  { minMs, maxMs }: Backoff,
  random = Math.random,
): number {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30));
  return full / 2 + (random() * full) / 2;
}
