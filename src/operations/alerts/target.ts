import pRetry, { AbortError } from 'p-retry';
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

export interface Retries {
  readonly times: number;
  /** Before the first; each is three times as long as the one before. */
  readonly firstAfterMs: number;
}

export const RETRIES: Retries = { times: 2, firstAfterMs: 1000 };

/**
 * Sends one notice, trying again what may pass.
 * @throws {TargetFailed} of the last try, or the signal's reason
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
          if (attempt <= retries.times) await waited(error.retryAfterMs ?? 0, signal);
          throw error;
        }
        throw new AbortError(error instanceof Error ? error : new Error('not an error'));
      }
    },
    { retries: retries.times, factor: 3, minTimeout: retries.firstAfterMs, signal },
  );
}

async function waited(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
