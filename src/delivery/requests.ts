import type { Endpoint } from '../domain/endpoint.ts';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { retryForAnswer } from '../platform-api/retries.ts';
import { Later, readAnswer } from './answer.ts';

const SECOND_TRY_AFTER_MS = 200;
const UNREADABLE: readonly PlatformError['code'][] = ['unexpected', 'reports_error', 'too_large'];

type Request<T> = (
  client: PlatformClient,
  signal: AbortSignal,
  /** To be called between two requests that are made as one. */
  confirm: () => Promise<void>,
) => Promise<T>;

interface RequestsOptions {
  /** Each request is tried only once. */
  readonly once: boolean;
  /** `AttemptOptions.confirmLease` */
  readonly confirmLease: () => Promise<void>;
}

/**
 * The requests of one attempt. Each is tried twice in quick succession, but only once for a probe or
 * an entry that failed often; a failure that persists is retried on the durable schedule.
 */
export class Requests {
  readonly #client: PlatformClient;
  readonly #signal: AbortSignal;
  readonly #options: RequestsOptions;

  constructor(client: PlatformClient, signal: AbortSignal, options: RequestsOptions) {
    this.#client = client;
    this.#signal = signal;
    this.#options = options;
  }

  /**
   * The answer counts also when the signal is aborted meanwhile.
   * @throws {Later} after the last try, or at once when the platform sends Retry-After
   * @throws {PlatformError} an error that a second try would not change
   */
  async call<T>(
    endpoint: Endpoint,
    request: Request<T>,
    { once = this.#options.once } = {},
  ): Promise<T> {
    try {
      return await retryForAnswer(async () => this.#make(request), {
        retries: once ? 0 : 1,
        ...{ minTimeout: SECOND_TRY_AFTER_MS, maxTimeout: SECOND_TRY_AFTER_MS },
        shouldRetry: ({ error }) => worthASecondTry(error),
        signal: this.#signal,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof PlatformError && readAnswer(error) === 'later') {
        throw new Later(endpoint, error);
      }
      throw error;
    }
  }

  async #make<T>(request: Request<T>): Promise<T> {
    const confirm = async () => {
      await this.#options.confirmLease();
      this.#signal.throwIfAborted();
    };
    await confirm();
    return request(this.#client, this.#signal, confirm);
  }

  /** For an answer that is useful but not required: undefined when the platform refuses it. */
  async ask<T>(request: Request<T>, options?: { readonly once: true }): Promise<T | undefined> {
    try {
      return await this.call('messages', request, options);
    } catch (error) {
      if (error instanceof PlatformError) return undefined;
      // An answer that cannot be parsed now cannot be parsed later.
      const cause = error instanceof Later ? error.cause : undefined;
      const isUnreadable = cause instanceof PlatformError && UNREADABLE.includes(cause.code);
      if (isUnreadable) return undefined;
      throw error;
    }
  }
}

function worthASecondTry(error: unknown): boolean {
  return (
    error instanceof PlatformError &&
    // An immediate second try is unlikely to succeed.
    !['timeout', 'aborted', 'unexpected', 'reports_error'].includes(error.code) &&
    error.status !== 429 &&
    readAnswer(error) === 'later' &&
    error.retryAfterMs === undefined
  );
}
