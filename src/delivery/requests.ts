import pRetry from 'p-retry';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { Later, type Part, readAnswer } from './answer.ts';

const SECOND_TRY_AFTER_MS = 200;
const UNREADABLE: readonly PlatformError['code'][] = ['unexpected', 'too_large'];

type Request<T> = (client: PlatformClient, signal: AbortSignal) => Promise<T>;

/**
 * The requests of one attempt: two quick tries each, one only for a probe; what outlasts them goes
 * on the durable schedule.
 */
export class Requests {
  readonly #client: PlatformClient;
  readonly #signal: AbortSignal;
  readonly #once: boolean;

  constructor(client: PlatformClient, signal: AbortSignal, options: { readonly once: boolean }) {
    this.#client = client;
    this.#signal = signal;
    this.#once = options.once;
  }

  /**
   * @throws {Later} after the last try, or at once when the platform names a time
   * @throws {PlatformError} that a second try would not change
   */
  async call<T>(part: Part, request: Request<T>, { once = this.#once } = {}): Promise<T> {
    try {
      return await pRetry(() => request(this.#client, this.#signal), {
        retries: once ? 0 : 1,
        ...{ minTimeout: SECOND_TRY_AFTER_MS, maxTimeout: SECOND_TRY_AFTER_MS },
        shouldRetry: ({ error }) => worthASecondTry(error),
        signal: this.#signal,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof PlatformError && readAnswer(error) === 'later') {
        throw new Later(part, error);
      }
      throw error;
    }
  }

  /** Undefined when the platform refuses to say: that costs an answer, not the message. */
  async ask<T>(request: Request<T>, options?: { readonly once: true }): Promise<T | undefined> {
    try {
      return await this.call('messages', request, options);
    } catch (error) {
      if (error instanceof PlatformError) return undefined;
      // An answer that cannot be read now cannot be read later.
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
    // What was not answered in all that time is not likely to be now.
    error.code !== 'timeout' &&
    error.code !== 'aborted' &&
    error.status !== 429 &&
    readAnswer(error) === 'later' &&
    error.retryAfterMs === undefined
  );
}
