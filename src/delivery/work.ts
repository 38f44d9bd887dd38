import type { Endpoint } from '../domain/endpoint.ts';
import type { Attachment, OpenAttachment } from '../intake/normalizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { AttemptPart, AttemptTrace } from '../observability/tracing.ts';
import type { Reason } from '../domain/reasons.ts';
import type { PlatformError } from '../platform-api/errors.ts';
import type { CreatedMessage } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Claimed, Outcome, TimelineStep } from '../spool/entry.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';
import type { DeliverySpool } from '../spool/spool.ts';
import { Forbidden, WaitAnnounced } from './answer.ts';
import type { Notes } from './notes.ts';
import type { Requests } from './requests.ts';
import type { ShopPlatform } from './shop-platform.ts';

/** What the steps of one attempt at one entry share. */
export interface Work {
  readonly claimed: Claimed;
  readonly shop: ShopPlatform;
  readonly spool: DeliverySpool;
  readonly requests: Requests;
  readonly notes: Notes;
  readonly steps: Steps;
  readonly startedAt: number;
  readonly record: AttemptRecord;
  readonly signal: AbortSignal;
  /** Counts and logs an alarm. */
  readonly alarm: (alarm: string) => void;
  /** `Normalized.unverifiedFrom` */
  readonly unverifiedFrom?: string | undefined;
  /** `Normalized.isEcho` */
  readonly isEcho?: boolean | undefined;
  /** Set for a probe of this endpoint: its requests do not count toward the budget. */
  readonly probes: Endpoint | undefined;
}

/**
 * Called before a file or a message is sent. A probe is sent when its time has come.
 * @throws {WaitAnnounced}
 */
export function assertNoWait({ shop, startedAt, probes }: Work): void {
  if (probes === undefined && shop.health.messages.isWaitAnnouncedSince(startedAt)) {
    throw new WaitAnnounced('the platform has announced a wait');
  }
}

/** A message that the platform has accepted. */
export interface Submitted {
  /** The request that was accepted. */
  readonly request: CreateMessageRequest;
  readonly message: CreatedMessage | undefined;
  /** A restriction that operators should know about. */
  readonly caveat?: Reason;
  /** An earlier attempt submitted the message: this request may differ from the accepted one. */
  readonly isRecalled?: true;
}

/** After a `forbidden` answer (`answer.ts`): is the key refused, or only this request? */
export async function forbidden(
  work: Work,
  endpoint: Endpoint,
  error: PlatformError,
): Promise<Forbidden> {
  return new Forbidden(endpoint, error, (await work.shop.checkReadsAnew()) === 'failed');
}

type Detail = NonNullable<TimelineStep['detail']>;

/** The steps of one attempt, for the timeline and the log. */
export class Steps {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #trace: AttemptTrace | undefined;
  readonly #steps: TimelineStep[] = [];

  constructor(log: Logger, clock: Clock, trace?: AttemptTrace) {
    this.#log = log;
    this.#clock = clock;
    this.#startedAt = clock();
    this.#trace = trace;
  }

  /** Runs a part of the attempt; its duration is recorded when the entry is traced. */
  timed<T>(part: AttemptPart, work: () => Promise<T>): Promise<T> {
    return this.#trace === undefined ? work() : this.#trace.timed(part, work);
  }

  add(step: string, detail: Detail = {}): void {
    this.#push(step, detail);
    this.#log.debug(`entry.${step}`, detail);
  }

  /** The last step. */
  end(state: Outcome['state'], detail: Detail): void {
    this.#push(state, detail);
  }

  get all(): readonly TimelineStep[] {
    return this.#steps;
  }

  /**
   * Logs the attempt in one line, named by its outcome: all details, of which a later one replaces an
   * earlier one of the same name, and when each step ended, in milliseconds.
   */
  log(state: Outcome['state']): void {
    const fields: Record<string, string | number | boolean> = {};
    const ended: string[] = [];
    for (const { at, step, detail } of this.#steps) {
      Object.assign(fields, detail);
      ended.push(`${step} ${at - this.#startedAt}`);
    }
    fields['steps'] = ended.join(', ');
    this.#log.info(`entry.${state}`, fields);
  }

  #push(step: string, detail: Detail): void {
    this.#steps.push({
      ...{ at: this.#clock(), step },
      ...(this.#steps.length === 0 && { startedAt: this.#startedAt }),
      ...(hasKeys(detail) && { detail }),
    });
  }
}

const hasKeys = (detail: Detail): boolean => Object.keys(detail).length > 0;

type AttachmentRecord = DeliveryRecord['attachments'][number];

/**
 * What one attempt would submit or has submitted, for operators. Never logged: it contains the
 * text.
 */
export class AttemptRecord {
  #request: unknown;
  #trimmed: string | undefined;
  #about: readonly string[] = [];
  readonly #attachments: AttachmentRecord[] = [];

  /** The request as it was last submitted or would have been; replaces an earlier one. */
  request(request: unknown): void {
    this.#request = request;
  }

  trimmed(text: string | undefined): void {
    this.#trimmed = text;
  }

  about(people: readonly string[]): void {
    this.#about = people;
  }

  attachment(
    { part, about }: Attachment,
    opened: Pick<OpenAttachment, 'name' | 'type' | 'size'> | undefined,
    mediaId: string | undefined,
  ): void {
    const { name, type, size } = opened ?? about ?? { name: part, type: '', size: 0 };
    this.#attachments.push({ part, name, type, bytes: size, ...(mediaId && { mediaId }) });
  }

  /** Undefined when the attempt ended before it had a request. */
  get made(): DeliveryRecord | undefined {
    if (this.#request === undefined) return undefined;
    return {
      request: this.#request,
      ...(this.#trimmed && { trimmed: this.#trimmed }),
      ...(this.#about.length > 0 && { about: this.#about }),
      attachments: this.#attachments,
    };
  }
}
