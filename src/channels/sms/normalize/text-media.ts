import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import { sentence } from '../../../domain/reasons.ts';
import {
  type Attachment,
  AttachmentLate,
  AttachmentUnavailable,
  NotYet,
  type OpenAttachment,
} from '../../../intake/normalizer.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { ProviderFailed } from '../providers/requests.ts';
import type { LateMedia } from '../stored.ts';
import type { Medium } from './medium.ts';

/**
 * When the media of a text are fetched: within a minute of its arrival, to be submitted with it;
 * otherwise within the hour, to follow in a separate message.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Between tries: 1, 3, 10 and 30 s. */
const FACTOR = Math.sqrt(10);

export interface TextMediaOptions {
  /** After the first try of a medium: 4 more after 1, 3.2, 10 and 32 s by default. */
  readonly retry: { readonly retries: number; readonly minTimeoutMs: number };
  /** For all media of a text whose attempt begins when its minute is (almost) over. */
  readonly overdueMs: number;
  readonly clock: Clock;
}

/**
 * The media of a text, as its attachments. Media that cannot be fetched within a minute of the
 * text's arrival are late: the text is submitted without them, and they follow in a separate
 * message. If the minute was over before this attempt began, each of them is tried once.
 */
export class TextMedia {
  readonly attachments: readonly Attachment[];
  readonly #options: TextMediaOptions;
  readonly #receivedAt: number;
  readonly #minuteEndsAt: number;
  readonly #time: SharedTime;
  /** The latest time that the provider's Retry-After requested. */
  #notBefore = 0;

  constructor(media: readonly Medium[], receivedAt: number, options: TextMediaOptions) {
    const { clock, overdueMs } = options;
    const now = clock();
    // An arrival time ahead of the clock must not give more than a minute.
    const leftMs = Math.min(receivedAt + MINUTE_MS - now, MINUTE_MS);
    this.#options = options;
    this.#receivedAt = receivedAt;
    this.#minuteEndsAt = now + leftMs;
    this.#time = new SharedTime(now + Math.max(leftMs, overdueMs), media.length, clock);
    this.attachments = media.map((medium) => ({
      part: medium.part,
      placeholder: medium.placeholder,
      open: (signal) => this.#open(medium, signal),
    }));
  }

  /**
   * The data for the follow-up with late media. Its hour begins when the text arrived, or a minute
   * ago if the text arrived earlier than that.
   */
  late(parts: readonly string[]): LateMedia {
    const now = this.#options.clock();
    const until = Math.max(this.#receivedAt, now - MINUTE_MS) + HOUR_MS;
    return { parts, notBefore: Math.min(this.#notBefore, until), until };
  }

  async #open(medium: Medium, signal: AbortSignal): Promise<OpenAttachment> {
    const { clock } = this.#options;
    const shareMs = this.#time.nextShareMs();
    const limit = AbortSignal.timeout(shareMs);
    try {
      const endsAt = Math.min(clock() + shareMs, this.#minuteEndsAt);
      return await this.#fetch(medium, endsAt, AbortSignal.any([signal, limit]));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ProviderFailed) && !limit.aborted) throw error;
      const failure =
        error instanceof ProviderFailed ? error : new ProviderFailed('later', 'timeout');
      this.#notBefore = Math.max(this.#notBefore, clock() + (failure.retryAfterMs ?? 0));
      medium.report(failure);
      throw failure.kind === 'never'
        ? new AttachmentUnavailable(sentence(medium.reasonOf(failure)), { cause: failure })
        : new AttachmentLate(sentence(medium.reasonOf(failure)), { cause: failure });
    }
  }

  /** Tries at least once, and again as long as the next try begins before `endsAt`. */
  #fetch(medium: Medium, endsAt: number, signal: AbortSignal): Promise<OpenAttachment> {
    const { retry, clock } = this.#options;
    let askAgainAt = 0;
    return pRetry(
      async () => {
        await delay(Math.max(askAgainAt - clock(), 0), undefined, { signal });
        return medium.fetch(signal);
      },
      {
        retries: retry.retries,
        minTimeout: retry.minTimeoutMs,
        factor: FACTOR,
        signal,
        shouldRetry: ({ error, retriesConsumed }) => {
          if (!(error instanceof ProviderFailed) || error.kind !== 'later') return false;
          const now = clock();
          askAgainAt = now + (error.retryAfterMs ?? 0);
          return (
            Math.max(askAgainAt, now + retry.minTimeoutMs * FACTOR ** retriesConsumed) < endsAt
          );
        },
      },
    );
  }
}

/** For all late media of one attempt. */
const ROUND_MS = MINUTE_MS;

export interface LateRound {
  readonly late: LateMedia;
  /** Parts that an earlier attempt has uploaded. */
  readonly saved: { has(part: string): boolean };
  readonly clock: Clock;
}

/**
 * Fetches the late media that no earlier attempt has uploaded, one after the other, and returns all
 * late media as attachments. A medium that can no longer be fetched (the hour is over, or the provider
 * refused it permanently) becomes its placeholder. Empty if none could be fetched.
 * @throws {NotYet} for the first failure that may be temporary; the next attempt starts over
 */
export async function fetchLate(
  media: readonly Medium[],
  round: LateRound,
  signal: AbortSignal,
): Promise<readonly Attachment[]> {
  const { late, saved, clock } = round;
  const startedAt = clock();
  if (startedAt < late.notBefore) {
    throw new NotYet({ code: 'media_postponed' }, late.notBefore - startedAt);
  }
  const missing = media.filter(({ part }) => !saved.has(part));
  const time = new SharedTime(startedAt + ROUND_MS, missing.length, clock);
  const files = new Map<Medium, OpenAttachment>();
  for (const medium of missing) {
    const limit = AbortSignal.timeout(time.nextShareMs());
    try {
      files.set(medium, await medium.fetch(AbortSignal.any([signal, limit])));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ProviderFailed)) throw error;
      const waitMs = nextTryMs(late.until, clock(), error);
      medium.report(error, waitMs);
      if (waitMs !== undefined) {
        throw new NotYet(medium.reasonOf(error), waitMs, { cause: error });
      }
    }
  }
  const isAnyThere = files.size > 0 || missing.length < media.length;
  return isAnyThere ? media.map((medium) => fetched(medium, files.get(medium))) : [];
}

const fetched = (medium: Medium, file: OpenAttachment | undefined): Attachment => ({
  part: medium.part,
  placeholder: medium.placeholder,
  open: () =>
    file === undefined
      ? Promise.reject(new AttachmentUnavailable(`Media ${medium.part} never came`))
      : Promise.resolve(file),
});

/** A late medium that is fetched once, when it is opened; a failure is not retried. */
export function onDemand(medium: Medium): Attachment {
  return {
    part: medium.part,
    placeholder: medium.placeholder,
    open: async (signal) => {
      try {
        return await medium.fetch(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ProviderFailed)) throw error;
        medium.report(error);
        throw new AttachmentUnavailable(sentence(medium.reasonOf(error)), { cause: error });
      }
    },
  };
}

/**
 * How many milliseconds to wait before the next try of late media: 30 s at first, then 2 and 10
 * minutes; 5 minutes if an operator has to fix the credentials. `Retry-After` is respected, but
 * never beyond the end of the hour. Undefined if the hour is over, or retrying is useless.
 * @param until the end of the hour, milliseconds since the epoch
 */
export function nextTryMs(
  until: number,
  now: number,
  failure: Pick<ProviderFailed, 'kind' | 'retryAfterMs'>,
): number | undefined {
  const leftMs = until - now;
  if (leftMs <= 0 || failure.kind === 'never') return undefined;
  const stepMs = failure.kind === 'credentials' ? 5 * MINUTE_MS : stepAfter(HOUR_MS - leftMs);
  return Math.min(Math.max(stepMs, failure.retryAfterMs ?? 0), leftMs);
}

function stepAfter(elapsedMs: number): number {
  if (elapsedMs < 2 * MINUTE_MS) return MINUTE_MS / 2;
  return elapsedMs < 15 * MINUTE_MS ? 2 * MINUTE_MS : 10 * MINUTE_MS;
}

/**
 * A time limit for several media that are fetched one after the other. Each gets an equal share of
 * the remaining time, so that one that stalls does not use up the time of the others.
 */
export class SharedTime {
  readonly #endsAt: number;
  readonly #clock: Clock;
  #waiting: number;

  /** @param endsAt milliseconds since the epoch */
  constructor(endsAt: number, media: number, clock: Clock) {
    this.#endsAt = endsAt;
    this.#waiting = media;
    this.#clock = clock;
  }

  /** The milliseconds for the next of them. */
  nextShareMs(): number {
    const leftMs = Math.max(this.#endsAt - this.#clock(), 0);
    const shareMs = Math.floor(leftMs / Math.max(this.#waiting, 1));
    this.#waiting -= 1;
    return shareMs;
  }
}
