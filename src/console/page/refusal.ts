import type { Problem } from '../contract.ts';

/** A refusal of the gateway, or (`unreachable`) no answer at all. `message` is for people. */
export class Refusal extends Error {
  readonly code: Problem['code'] | 'unreachable';
  /** Seconds until another try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(code: Problem['code'] | 'unreachable', message: string, retryAfter?: number) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
