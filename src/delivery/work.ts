import type { Attachment, OpenAttachment } from '../intake/normalizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { AttemptPart, AttemptTrace } from '../observability/tracing.ts';
import type { PlatformError } from '../platform-api/errors.ts';
import type { CreatedMessage } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Claimed, TimelineStep } from '../spool/entry.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';
import type { Spool } from '../spool/spool.ts';
import { Forbidden, type Part } from './answer.ts';
import type { Notes } from './notes.ts';
import type { Requests } from './requests.ts';
import type { ShopPlatform } from './shop-platform.ts';

/** One attempt at one entry: what its steps share. */
export interface Work {
  readonly claimed: Claimed;
  readonly shop: ShopPlatform;
  readonly spool: Spool;
  readonly requests: Requests;
  readonly notes: Notes;
  readonly steps: Steps;
  readonly record: AttemptRecord;
  readonly signal: AbortSignal;
  /** It is to find out whether the endpoint works again: its requests use up no budget. */
  readonly probes: Part | undefined;
}

/** What the platform has taken. */
export interface Submitted {
  /** As it went through. */
  readonly request: CreateMessageRequest;
  readonly message: CreatedMessage | undefined;
  /** What an operator should know of it. */
  readonly caveat?: string;
  /** An earlier attempt submitted it: this request may differ from the one that was accepted. */
  readonly isRecalled?: true;
}

/** After an answer that is `forbidden` (`answer.ts`): is it the key, or this one request? */
export async function forbidden(work: Work, part: Part, error: PlatformError): Promise<Forbidden> {
  return new Forbidden(part, error, (await work.shop.checkReadsAnew()) === 'failed');
}

type Detail = NonNullable<TimelineStep['detail']>;

/** The steps of one attempt: each is a log line at once, and a line of the timeline when it settles. */
export class Steps {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #trace: AttemptTrace | undefined;
  readonly #steps: TimelineStep[] = [];

  constructor(log: Logger, clock: Clock, trace?: AttemptTrace) {
    this.#log = log;
    this.#clock = clock;
    this.#trace = trace;
  }

  /** A part of the attempt, timed when the entry is traced. */
  timed<T>(part: AttemptPart, work: () => Promise<T>): Promise<T> {
    return this.#trace === undefined ? work() : this.#trace.timed(part, work);
  }

  add(step: string, detail: Detail = {}): void {
    this.#steps.push({ at: this.#clock(), step, ...(hasKeys(detail) && { detail }) });
    this.#log.info(`entry.${step}`, detail);
  }

  get all(): readonly TimelineStep[] {
    return this.#steps;
  }
}

const hasKeys = (detail: Detail): boolean => Object.keys(detail).length > 0;

type AttachmentRecord = DeliveryRecord['attachments'][number];

/**
 * What one attempt makes of a message, for the operator who asks afterwards. Never for the log: it
 * holds the text.
 */
export class AttemptRecord {
  #request: unknown;
  #trimmed: string | undefined;
  readonly #attachments: AttachmentRecord[] = [];

  /** The latest counts: the request as it was last submitted, or would have been. */
  request(request: unknown): void {
    this.#request = request;
  }

  trimmed(text: string | undefined): void {
    this.#trimmed = text;
  }

  attachment(
    { part, about }: Attachment,
    opened: Pick<OpenAttachment, 'name' | 'type' | 'size'> | undefined,
    mediaId: string | undefined,
  ): void {
    const { name, type, size } = opened ?? about ?? { name: part, type: '', size: 0 };
    this.#attachments.push({ part, name, type, bytes: size, ...(mediaId && { mediaId }) });
  }

  /** Undefined when the attempt did not get as far as a request. */
  get made(): DeliveryRecord | undefined {
    if (this.#request === undefined) return undefined;
    return {
      request: this.#request,
      ...(this.#trimmed && { trimmed: this.#trimmed }),
      attachments: this.#attachments,
    };
  }
}
