const HOUR_MS = 60 * 60 * 1000;
/** Media that fail at one time. Past this the oldest are forgotten, and wait a little longer. */
const MAX_REMEMBERED = 10_000;

/**
 * How long a message waits for a medium that cannot be had: an hour, then it goes without. The
 * hour is the message's first; one that came to its first attempt later, after an outage of the
 * platform or of the gateway, has an hour from the first failure on.
 */
export class Patience {
  readonly #firstFailedAt = new Map<string, number>();

  /**
   * How many milliseconds to wait before the next attempt, or undefined when the hour is over.
   * `Retry-After` is honoured, but never past the end of the hour.
   */
  wait(
    mediaSid: string,
    receivedAt: number,
    now: number,
    failure: { readonly retryAfterMs: number | undefined },
  ): number | undefined {
    const first = this.#firstFailedAt.get(mediaSid) ?? now;
    this.#remember(mediaSid, first);
    // A message found by reconciliation, or delayed, is older than its first failure.
    const deadline = Math.max(receivedAt, first) + HOUR_MS;
    const leftMs = deadline - now;
    if (leftMs <= 0) return undefined;
    const elapsedMs = HOUR_MS - leftMs;
    const stepMs = elapsedMs < 120_000 ? 30_000 : elapsedMs < 900_000 ? 120_000 : 600_000;
    return Math.min(Math.max(stepMs, failure.retryAfterMs ?? 0), leftMs);
  }

  /** Whether it has failed before. */
  waitsFor(mediaSid: string): boolean {
    return this.#firstFailedAt.has(mediaSid);
  }

  forget(mediaSid: string): void {
    this.#firstFailedAt.delete(mediaSid);
  }

  #remember(mediaSid: string, at: number): void {
    this.#firstFailedAt.delete(mediaSid);
    this.#firstFailedAt.set(mediaSid, at);
    if (this.#firstFailedAt.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#firstFailedAt.keys();
    if (oldest !== undefined) this.#firstFailedAt.delete(oldest);
  }
}
