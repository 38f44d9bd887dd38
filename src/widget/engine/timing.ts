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
