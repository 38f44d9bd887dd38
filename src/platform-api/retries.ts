import { setTimeout as delay } from 'node:timers/promises';
import pRetry, { type Options } from 'p-retry';
import { PlatformError, TransportFailure } from './errors.ts';

/** How a client retries failed calls. */
export interface RetryOptions {
  /** The maximum number of retries after the first attempt. */
  readonly retries: number;
  /** The delay before the first retry. It doubles with each retry, and is then randomized up to twice. */
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  /** The longest `Retry-After` to wait for; after a longer one the call fails. */
  readonly maxRetryAfterMs?: number;
}

/**
 * Whether a request may be repeated.
 *
 * | value | meaning |
 * | --- | --- |
 * | `repeatable` | yes: it reads, or has a dedup key |
 * | `single` | only when the platform certainly did not process the first request |
 */
export type Repetition = 'repeatable' | 'single';

const DEFAULTS = { minDelayMs: 250, maxDelayMs: 8000, maxRetryAfterMs: 60_000 };
/** Errors before the request was sent. */
const NEVER_SENT: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // undici's, after ten seconds.
  'UND_ERR_CONNECT_TIMEOUT',
];
/** OpenSSL's and Node's codes for a certificate that is not accepted. */
const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/;
const TEMPORARY: readonly PlatformError['code'][] = ['network', 'timeout', 'not_json'];

/** @throws {TypeError} an option is not a number, is negative, or would wait forever */
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
 * Makes a call, and retries it while that is safe and may succeed.
 * @param call for the error when the call is aborted between two attempts
 * @throws the last attempt's error; `PlatformError` `aborted` when the signal aborts the delay
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
  // An option may be present but undefined.
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
    return await retryForAnswer(attempt, {
      retries,
      minTimeout: minDelayMs,
      maxTimeout: maxDelayMs,
      randomize: true,
      ...(signal && { signal }),
      shouldRetry: ({ error }) => isWorthwhile(error),
      // In addition to the random delay, so that clients with the same Retry-After do not coincide.
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

/**
 * p-retry, but an answer counts also when the signal was aborted as it came.
 * @throws what p-retry throws
 */
export async function retryForAnswer<T>(attempt: () => Promise<T>, options: Options): Promise<T> {
  let answer: { readonly value: T } | undefined;
  const make = async () => {
    answer = { value: await attempt() };
    return answer.value;
  };
  try {
    return await pRetry(make, options);
  } catch (error) {
    if (answer !== undefined) return answer.value;
    throw error;
  }
}

/** Whether the request may be repeated and may then succeed. */
function mayBeRepeated(error: PlatformError, repetition: Repetition): boolean {
  if (repetition === 'repeatable') {
    return error.code === 'http' ? error.retryable : TEMPORARY.includes(error.code);
  }
  // 429: the request was not processed (RFC 6585 §4).
  if (error.status === 429) return true;
  return isNeverSent(error);
}

/** Whether the connection was not made, so that the platform cannot have the request. */
export const isNeverSent = ({ cause }: PlatformError): boolean =>
  cause instanceof TransportFailure &&
  (NEVER_SENT.includes(cause.code) || CERTIFICATE.test(cause.code));
