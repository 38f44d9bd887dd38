import pRetry, { AbortError } from 'p-retry';
import type { Notice } from './notice.ts';
import { type Target, TargetFailed } from './target.ts';

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
