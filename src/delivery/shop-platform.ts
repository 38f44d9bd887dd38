import pRetry, { AbortError } from 'p-retry';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import type { MediaPermission } from '../platform-api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Channel } from '../types/channel.ts';
import type { EntryId, ShopId } from '../types/ids.ts';
import { Breaker } from './breaker.ts';
import { ConfigurationFault, Later, type Part, readAnswer } from './failure.ts';
import { RefusalStreak } from './refusal-streak.ts';

const SECOND_TRY_AFTER_MS = 200;

export interface ShopSettings {
  readonly shopId: ShopId;
  /** The configured name, for logs and metrics. */
  readonly name: string;
  readonly client: PlatformClient;
  readonly mediaPermission: Readonly<Record<Channel, MediaPermission>>;
  /** How long a text continues the conversation before it; undefined: for ever. */
  readonly smsContinuityMs?: number;
}

/** One shop's platform as delivery sees it: the client, its health, and the rules of asking twice. */
export class ShopPlatform {
  readonly settings: ShopSettings;
  readonly breakers: Readonly<Record<Part, Breaker>>;
  readonly refusals: RefusalStreak<EntryId>;
  readonly #clock: Clock;
  #lastSuccessAt = 0;

  /** @param before the same platform under other settings: what is known of its health stays */
  constructor(settings: ShopSettings, clock: Clock, before?: ShopPlatform) {
    this.settings = settings;
    this.#clock = clock;
    this.breakers = before?.breakers ?? {
      messages: new Breaker(clock),
      media: new Breaker(clock),
    };
    this.refusals = before?.refusals ?? new RefusalStreak();
    this.#lastSuccessAt = before?.lastSuccessAt ?? 0;
  }

  get client(): PlatformClient {
    return this.settings.client;
  }

  /** When this shop last took a message: an entry that failed since is alone in its trouble. */
  get lastSuccessAt(): number {
    return this.#lastSuccessAt;
  }

  delivered(): void {
    this.#lastSuccessAt = this.#clock();
    this.breakers.messages.succeeded();
    this.refusals.reset();
  }

  /**
   * Two quick tries; what outlasts them goes on the durable schedule.
   * @throws {Later} after the second, or at once when the platform names a time
   * @throws {PlatformError} that no second try would mend
   */
  async call<T>(part: Part, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    try {
      return await twice(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PlatformError && readAnswer(error) === 'later') {
        this.breakers[part].failed();
        throw new Later(part, error);
      }
      throw error;
    }
  }

  /**
   * After a 401, 403, 405, redirect or 404: is it the configuration, or this one request?
   * @throws {ConfigurationFault} a harmless request is refused as well
   * @throws {Later} the platform cannot tell now
   */
  async assertAccepted(signal: AbortSignal): Promise<void> {
    try {
      await this.call('messages', signal, () => this.client.listContacts({ limit: 1 }, signal));
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      this.breakers.messages.trip();
      throw new ConfigurationFault(`the platform refuses this shop (${error.status ?? 0})`, {
        cause: error,
      });
    }
  }
}

/** The library's retries begin with the second try: most calls never see one, and pay nothing. */
async function twice<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let failure: unknown;
  try {
    return await request();
  } catch (error) {
    if (!worthASecondTry(error)) throw error;
    failure = error;
  }
  return pRetry(
    async (attempt) => {
      if (attempt === 1) throw asError(failure);
      try {
        return await request();
      } catch (error) {
        throw worthASecondTry(error) ? error : new AbortError(asError(error));
      }
    },
    { retries: 1, minTimeout: SECOND_TRY_AFTER_MS, maxTimeout: SECOND_TRY_AFTER_MS, signal },
  );
}

function worthASecondTry(error: unknown): boolean {
  return (
    error instanceof PlatformError &&
    error.code !== 'aborted' &&
    readAnswer(error) === 'later' &&
    error.retryAfterMs === undefined
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('not an error', { cause: error });
}
