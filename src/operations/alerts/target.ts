import type { Notice } from './notice.ts';

/** A way by which alerts leave. */
export interface Target {
  /** Of a closed set: for log, metrics and the record of who was told. */
  readonly name: 'webhook' | 'email';
  /** @throws {TargetFailed} */
  send(notice: Notice, signal: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * It did not take the notice. Kind and code are safe to log: URLs carry tokens, and relays quote
 * addresses.
 */
export class TargetFailed extends Error {
  override name = 'TargetFailed';
  readonly kind: 'refused' | 'busy' | 'unreachable' | 'timeout';
  /** A status, an SMTP reply code or the name of a system error. */
  readonly code: string;
  /** Milliseconds to wait at least, when it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: TargetFailed['kind'], code: string, retryAfterMs?: number) {
    super(`${kind} (${code})`);
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** The same again at once would meet the same. */
  get isFinal(): boolean {
    return this.kind === 'refused';
  }
}
