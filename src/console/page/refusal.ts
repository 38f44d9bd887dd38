import type { Problem } from '../contract.ts';

/**
 * An error response of the gateway, or (`unreachable`) no response. `message` is shown to the
 * operator.
 */
export class Refusal extends Error {
  readonly code: Problem['code'] | 'unreachable';
  /** When the next attempt is allowed, by the gateway's clock. */
  readonly retryAt: number | undefined;
  /** What happened to a ticket since it was read. */
  readonly changes: NonNullable<Problem['changes']>;

  constructor(
    code: Problem['code'] | 'unreachable',
    message: string,
    retryAt?: number,
    changes: Problem['changes'] = [],
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.retryAt = retryAt;
    this.changes = changes;
  }
}
