import { type Problem, problemOf } from './problem.ts';

/**
 * What went wrong with a call.
 *
 * | code | meaning |
 * | --- | --- |
 * | `network` | no answer: refused, reset, cut off half-way, name not found, TLS |
 * | `timeout` | the whole call took longer than allowed, however busily it trickled |
 * | `aborted` | the caller's signal |
 * | `not_json` | 2xx, and the body is not JSON (a maintenance page, a captive portal) |
 * | `unexpected` | 2xx, and the JSON is not what the document says |
 * | `too_large` | the answer is over the limit |
 * | `http` | any other status; see `status` |
 * | `invalid` | no request was made: what is asked for by its id has none |
 */
export type PlatformErrorCode =
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'not_json'
  | 'unexpected'
  | 'too_large'
  | 'http'
  | 'invalid';

const ANSWER_MAX_CHARS = 500;
/** Statuses that say "not now" rather than "not this". */
const RETRYABLE_4XX: readonly number[] = [408, 425, 429];

export interface PlatformErrorDetails {
  readonly code: PlatformErrorCode;
  readonly method: string;
  /** Without the query, which may hold an address. */
  readonly path: string;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly answer?: string | undefined;
}

/**
 * The one error that leaves the client. It never carries the key: an axios error, which prints
 * the Authorization header, is taken apart where it is caught.
 */
export class PlatformError extends Error {
  override name = 'PlatformError';
  readonly code: PlatformErrorCode;
  readonly path: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** True when the same request may succeed later; false when it is refused as it stands. */
  readonly retryable: boolean;
  readonly #answer: string | undefined;
  readonly #problem: Problem | undefined;

  constructor(details: PlatformErrorDetails, options?: ErrorOptions) {
    const { code, method, path, status, retryAfterMs, answer } = details;
    const what = code === 'http' ? '' : ` (${code})`;
    super(`${method} ${path}: ${status ?? 'no answer'}${what}`, options);
    this.code = code;
    this.path = path;
    if (status !== undefined) this.status = status;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    this.retryable =
      code !== 'invalid' &&
      (code !== 'http' || status === undefined || status >= 500 || RETRYABLE_4XX.includes(status));
    this.#answer = answer?.slice(0, ANSWER_MAX_CHARS);
    this.#problem = problemOf(answer);
  }

  /**
   * The beginning of the platform's own answer, for the operator's eyes. A getter over a private
   * field, so that printing or serializing the error leaves it out: it may quote the message.
   */
  get answer(): string | undefined {
    return this.#answer;
  }

  /** What it says is wrong with the request, when that could be read. Kept private likewise. */
  get problem(): Problem | undefined {
    return this.#problem;
  }
}

/** What the network said, without the request it was said about. */
export class TransportFailure extends Error {
  override name = 'TransportFailure';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The file to upload could not be read to its end: no fault of the platform's. */
export class MediaSourceError extends Error {
  override name = 'MediaSourceError';
}
