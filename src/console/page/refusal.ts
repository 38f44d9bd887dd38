import type { Problem } from '../contract.ts';

/**
 * An error response of the gateway, or (`unreachable`) no response. `message` is shown to the
 * operator.
 */
export class Refusal extends Error {
  readonly code: Problem['code'] | 'unreachable';
  /** Seconds to wait before the next attempt. */
  readonly retryAfter: number | undefined;

  constructor(code: Problem['code'] | 'unreachable', message: string, retryAfter?: number) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
