/** The chat connects again in a way of its own (`engine/connection.ts`): this one is never waited for. */
export class Backoff {
  readonly attempts = 0;

  duration(): number {
    return 0;
  }

  reset(): void {
    // There is nothing to forget.
  }
}
