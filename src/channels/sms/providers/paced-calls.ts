import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { ListOptions } from '../provider.ts';
import { ProviderFailed } from './requests.ts';

/** A longer Retry-After ends the run; the next run waits for it. */
const LONGEST_WAIT_MS = 60_000;

/** Makes calls one after the other at an interval, and retries temporary failures. */
export function pacedCalls<Call, Answer>(
  make: (call: Call) => Promise<Answer>,
  { pace = {}, clock, signal }: ListOptions,
): (call: Call) => Promise<Answer> {
  const { gapMs = 250, retries = 3, minTimeoutMs = 1000 } = pace;
  let earliest = 0;
  const attempt = async (call: Call): Promise<Answer> => {
    await delay(Math.max(earliest - clock(), 0), undefined, { signal });
    earliest = clock() + gapMs;
    return make(call);
  };
  return (call) =>
    pRetry(() => attempt(call), {
      retries,
      minTimeout: minTimeoutMs,
      randomize: true,
      signal,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!isPassing(error) || retriesLeft === 0) return;
        await delay(error.retryAfterMs ?? 0, undefined, { signal });
      },
      shouldRetry: ({ error }) => isPassing(error),
    });
}

const isPassing = (error: Error): error is ProviderFailed =>
  error instanceof ProviderFailed &&
  error.kind === 'later' &&
  (error.retryAfterMs ?? 0) <= LONGEST_WAIT_MS;
