import type { Problem } from '../contract.ts';

/**
 * An error response of the gateway, or (`unreachable`) no response. `message` is shown to the
 * operator.
 */
export class Refusal extends Error {
  readonly code: Problem['code'] | 'unreachable';
  /** When the next attempt is allowed, by the gateway's clock. */
  readonly retryAt: number | undefined;

  constructor(code: Problem['code'] | 'unreachable', message: string, retryAt?: number) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.retryAt = retryAt;
  }
}
