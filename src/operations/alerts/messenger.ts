import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Alert, alertOf, type AlertRecord } from './alert.ts';
import { type PendingNotice, pendingFor, type NoticeTiming } from './pending-notices.ts';
import type { Notice } from './notice.ts';
import { RETRIES, type Retries, sendNotice, type Target, TargetFailed } from './target.ts';

/** How long a failed target is not used; doubled after each further failure. */
const FIRST_REST_MS = 30_000;
const LONGEST_REST_MS = 15 * 60_000;
const STOP_GRACE_MS = 3000;

export interface MessengerOptions extends NoticeTiming {
  readonly source: string;
  readonly retries?: Retries;
}

interface MessengerParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Sends notices to one target, one at a time. A slow or unreachable target does not delay others.
 */
export class Messenger {
  readonly #target: Target;
  readonly #options: MessengerOptions;
  readonly #parts: MessengerParts;
  readonly #abort = new AbortController();
  #sending: Promise<void> | undefined;
  #stopping = false;
  #restUntil = 0;
  #restMs = FIRST_REST_MS;

  constructor(target: Target, options: MessengerOptions, parts: MessengerParts) {
    this.#target = target;
    this.#options = options;
    this.#parts = parts;
  }

  get name(): Target['name'] {
    return this.#target.name;
  }

  /** Whether no request is running and the pause after a failure is over. */
  get isFree(): boolean {
    return this.#sending === undefined && this.#parts.clock() >= this.#restUntil;
  }

  /** Sends the due notice of the target, if any, and calls `onSent` once it arrived. */
  sendDue(
    records: readonly AlertRecord[],
    onSent: (pending: PendingNotice, at: number) => Promise<void>,
  ): void {
    if (!this.isFree || this.#stopping) return;
    const at = this.#parts.clock();
    const pending = pendingFor(this.name, records, at, this.#options);
    if (pending === undefined) return;
    this.#sending = this.#send(pending, at, onSent).finally(() => {
      this.#sending = undefined;
    });
  }

  /** Lets a running request finish; an interrupted one would be repeated after the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#abort.abort(), STOP_GRACE_MS);
    await this.#sending;
    clearTimeout(timer);
    this.#target.close();
  }

  /** Never rejects. */
  async #send(
    pending: PendingNotice,
    at: number,
    onSent: (pending: PendingNotice, at: number) => Promise<void>,
  ): Promise<void> {
    const { logger, metrics, clock } = this.#parts;
    const target = this.name;
    const { source, retries = RETRIES } = this.#options;
    try {
      await sendNotice(this.#target, noticeOf(pending, source, at), this.#abort.signal, retries);
      metrics.alertNotifications.inc({ target, outcome: 'sent' });
      this.#restMs = FIRST_REST_MS;
      await onSent(pending, at);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      const isKnown = error instanceof TargetFailed;
      metrics.alertNotifications.inc({ target, outcome: isKnown ? error.kind : 'failed' });
      logger.error('alerts.not_sent', {
        target,
        ...(isKnown ? { kind: error.kind, code: error.code } : errorFields(error)),
      });
      const asked = isKnown ? (error.retryAfterMs ?? 0) : 0;
      this.#restUntil = clock() + Math.max(this.#restMs, asked);
      this.#restMs = Math.min(this.#restMs * 2, LONGEST_REST_MS);
    }
  }
}

function noticeOf(
  { fired, worse, resolved, still }: PendingNotice,
  source: string,
  at: number,
): Notice {
  const alerts = (records: readonly AlertRecord[]): Alert[] => records.map(alertOf);
  return {
    ...{ source, at, isTest: false },
    ...{ fired: alerts(fired), worse: alerts(worse) },
    ...{ resolved: alerts(resolved), still: alerts(still) },
  };
}
