import { setTimeout as delay } from 'node:timers/promises';
import pRetry, { AbortError } from 'p-retry';
import type { Notice } from './notice.ts';

/** A destination of notices. */
export interface Target {
  /** The name in the log, in metrics and in the stored alerts. */
  readonly name: 'webhook' | 'email';
  /** @throws {TargetFailed} */
  send(notice: Notice, signal: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * The target did not accept the notice. Kind and code are safe to log, unlike URLs, which contain
 * tokens, and relay messages, which quote addresses.
 */
export class TargetFailed extends Error {
  override name = 'TargetFailed';
  readonly kind: 'refused' | 'busy' | 'unreachable' | 'timeout';
  /** A status, an SMTP reply code or the name of a system error. */
  readonly code: string;
  /** The minimum wait requested by the target, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: TargetFailed['kind'], code: string, retryAfterMs?: number) {
    super(`${kind} (${code})`);
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether an immediate retry is pointless. */
  get isFinal(): boolean {
    return this.kind === 'refused';
  }
}

export interface Retries {
  readonly times: number;
  /** The delay of the first retry; each further one is three times as long. */
  readonly firstAfterMs: number;
}

export const RETRIES: Retries = { times: 2, firstAfterMs: 1000 };

/**
 * Sends one notice, with retries after temporary failures.
 * @throws {TargetFailed} of the last attempt, or the signal's reason
 */
export async function sendNotice(
  target: Target,
  notice: Notice,
  signal: AbortSignal,
  retries: Retries = RETRIES,
): Promise<void> {
  await pRetry(
    async (attempt) => {
      try {
        await target.send(notice, signal);
      } catch (error) {
        if (error instanceof TargetFailed && !error.isFinal) {
          const { retryAfterMs = 0 } = error;
          if (attempt <= retries.times && retryAfterMs > 0) {
            await delay(retryAfterMs, undefined, { signal }).catch(() => undefined);
          }
          throw error;
        }
        throw new AbortError(error instanceof Error ? error : new Error('not an error'));
      }
    },
    { retries: retries.times, factor: 3, minTimeout: retries.firstAfterMs, signal },
  );
}
