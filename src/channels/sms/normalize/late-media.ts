import {
  type Attachment,
  AttachmentUnavailable,
  NotYet,
  type OpenAttachment,
} from '../../../intake/normalizer.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { LateMedia } from '../receive.ts';
import { DownloadFailed } from '../providers/twilio/media.ts';
import type { Medium } from './medium.ts';
import { SharedTime } from './shared-time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** For all late media of one attempt. */
const ROUND_MS = MINUTE_MS;

export interface LateRound {
  readonly late: LateMedia;
  /** Parts that an earlier attempt uploaded. */
  readonly saved: { has(part: string): boolean };
  readonly clock: Clock;
}

/**
 * Fetches the late media that no earlier attempt uploaded, one after the other, and returns all late
 * media as attachments. One that cannot be fetched any more (the hour is over, or Twilio refused it
 * for good) becomes its placeholder. Empty when not a single one could be fetched.
 * @throws {NotYet} at the first that fails and may still come; the next attempt starts over
 */
export async function fetchLate(
  media: readonly Medium[],
  round: LateRound,
  signal: AbortSignal,
): Promise<readonly Attachment[]> {
  const { late, saved, clock } = round;
  const startedAt = clock();
  if (startedAt < late.notBefore) {
    throw new NotYet('Twilio asked for a pause (Retry-After)', late.notBefore - startedAt);
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
      if (!(error instanceof DownloadFailed)) throw error;
      const waitMs = nextTryMs(late.until, clock(), error);
      medium.report(error, waitMs);
      if (waitMs !== undefined) {
        throw new NotYet(medium.complaint(error), waitMs, { cause: error });
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

/** A late medium that is fetched once, when somebody opens it; if that fails, never again. */
export function onDemand(medium: Medium): Attachment {
  return {
    part: medium.part,
    placeholder: medium.placeholder,
    open: async (signal) => {
      try {
        return await medium.fetch(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DownloadFailed)) throw error;
        medium.report(error);
        throw new AttachmentUnavailable(medium.complaint(error), { cause: error });
      }
    },
  };
}

/**
 * How many milliseconds to wait before the next try at late media: 30 s at first, then 2 and
 * 10 minutes; 5 minutes where an operator has to fix the credentials. `Retry-After` is honoured,
 * but never past the end of the hour. Undefined when the hour is over, or trying again is useless.
 * @param until the end of the hour, milliseconds since the epoch
 */
export function nextTryMs(
  until: number,
  now: number,
  failure: Pick<DownloadFailed, 'kind' | 'retryAfterMs'>,
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
