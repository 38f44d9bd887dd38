import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import {
  type Attachment,
  AttachmentLate,
  AttachmentUnavailable,
  type OpenAttachment,
} from '../../../intake/normalizer.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { LateMedia } from '../receive.ts';
import { DownloadFailed } from '../providers/twilio/media.ts';
import type { Medium } from './medium.ts';
import { SharedTime } from './shared-time.ts';

/** A text is sent within this time of its arrival, even if media are missing. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Between tries: 1, 3, 10 and 30 s. */
const FACTOR = Math.sqrt(10);

export interface TextMediaOptions {
  /** After the first try at a medium: 4 more after 1, 3.2, 10 and 32 s by default. */
  readonly retry: { readonly retries: number; readonly minTimeoutMs: number };
  /** For all media of a text whose attempt begins when its minute is over, or almost. */
  readonly overdueMs: number;
  readonly clock: Clock;
}

/**
 * The media of a text, as its attachments. Media that cannot be fetched within a minute of the text's
 * arrival are late: the text is sent without them, and they follow in a message of their own. If
 * that minute was over before this attempt began, each of them is tried once.
 */
export class TextMedia {
  readonly attachments: readonly Attachment[];
  readonly #options: TextMediaOptions;
  readonly #receivedAt: number;
  readonly #minuteEndsAt: number;
  readonly #time: SharedTime;
  /** The latest of what Twilio's Retry-After asked for. */
  #notBefore = 0;

  constructor(media: readonly Medium[], receivedAt: number, options: TextMediaOptions) {
    const { clock, overdueMs } = options;
    const now = clock();
    // A time of arrival ahead of the clock gives no more than a minute.
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
   * What the message that brings late media has to know. Its hour began when the text arrived, or a
   * minute ago if the text arrived earlier than that.
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
      if (!(error instanceof DownloadFailed) && !limit.aborted) throw error;
      const failure =
        error instanceof DownloadFailed ? error : new DownloadFailed('later', 'timeout');
      this.#notBefore = Math.max(this.#notBefore, clock() + (failure.retryAfterMs ?? 0));
      medium.report(failure);
      throw failure.kind === 'never'
        ? new AttachmentUnavailable(medium.complaint(failure), { cause: failure })
        : new AttachmentLate(medium.complaint(failure), { cause: failure });
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
          if (!(error instanceof DownloadFailed) || error.kind !== 'later') return false;
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
