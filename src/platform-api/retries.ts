import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import { PlatformError, TransportFailure } from './errors.ts';

/** How a client makes a failed call again. */
export interface RetryOptions {
  /** At most so many times more, after the first. */
  readonly retries: number;
  /** Before the first retry; doubled before each further one, then made up to twice as long. */
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  /** A `Retry-After` is waited for, up to this; a longer one is the caller's to wait for. */
  readonly maxRetryAfterMs?: number;
}

/**
 * What a second request could do.
 *
 * | | |
 * | --- | --- |
 * | `repeatable` | nothing: it reads, or has a key by which the platform knows it again |
 * | `single` | the same thing twice; made again only when the first was certainly not taken |
 */
export type Repetition = 'repeatable' | 'single';

const DEFAULTS = { minDelayMs: 250, maxDelayMs: 8000, maxRetryAfterMs: 60_000 };
/** Nobody was there to take the request. */
const NEVER_SENT: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'];
const PASSING: readonly PlatformError['code'][] = ['network', 'timeout', 'not_json'];

/** @throws {TypeError} a number that is none, is below 0, or would wait for ever */
export function checkRetries(options: RetryOptions): void {
  const { retries, minDelayMs = 0, maxDelayMs = 0, maxRetryAfterMs = 0 } = options;
  const numbers = { retries, minDelayMs, maxDelayMs, maxRetryAfterMs };
  for (const [name, value] of Object.entries<unknown>(numbers)) {
    const isNumber = typeof value === 'number' && value >= 0;
    if (isNumber && (name !== 'minDelayMs' || Number.isFinite(value))) continue;
    throw new TypeError(`retry.${name}: expected a number of at least 0`);
  }
}

/**
 * Makes a call, and makes it again while that is safe and may help.
 * @param call names the call in the error of an abort between two attempts
 * @throws the last attempt's error; `PlatformError` `aborted` when the signal ends the waiting
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: RetryOptions | undefined,
  repetition: Repetition,
  call: {
    readonly method: string;
    readonly path: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<T> {
  if (options === undefined || options.retries === 0) return attempt();
  const { retries } = options;
  // An option may be there and undefined.
  const minDelayMs = options.minDelayMs ?? DEFAULTS.minDelayMs;
  const maxDelayMs = options.maxDelayMs ?? DEFAULTS.maxDelayMs;
  const maxRetryAfterMs = options.maxRetryAfterMs ?? DEFAULTS.maxRetryAfterMs;
  const { signal } = call;
  let last: unknown;
  const isWorthwhile = (error: Error): error is PlatformError =>
    error instanceof PlatformError &&
    mayBeRepeated(error, repetition) &&
    (error.retryAfterMs ?? 0) <= maxRetryAfterMs;
  try {
    return await pRetry(attempt, {
      retries,
      minTimeout: minDelayMs,
      maxTimeout: maxDelayMs,
      randomize: true,
      ...(signal && { signal }),
      shouldRetry: ({ error }) => isWorthwhile(error),
      // Before the usual delay, so that not all who were told the same second come at once.
      onFailedAttempt: async ({ error, retriesLeft }) => {
        last = error;
        if (retriesLeft === 0 || !isWorthwhile(error) || error.retryAfterMs === undefined) return;
        await delay(error.retryAfterMs, undefined, { ...(signal && { signal }) });
      },
    });
  } catch (error) {
    if (error === last || !signal?.aborted || error instanceof PlatformError) throw error;
    const { method, path } = call;
    throw new PlatformError({ code: 'aborted', method, path }, { cause: last });
  }
}

/** Whether the same request may be made again, and may then succeed. */
function mayBeRepeated(error: PlatformError, repetition: Repetition): boolean {
  if (repetition === 'repeatable') {
    return error.code === 'http' ? error.retryable : PASSING.includes(error.code);
  }
  // Too many requests: this one was counted and not looked at (RFC 6585 §4).
  if (error.status === 429) return true;
  return error.cause instanceof TransportFailure && NEVER_SENT.includes(error.cause.code);
}
