import type { EmailReading } from '../domain/email-reading.ts';
import type { Readable } from 'node:stream';
import type { CreateEventRequest, CreateMessageRequest } from '../platform-api/schemas.ts';
import { type Reason, sentence } from '../domain/reasons.ts';
import type { Claimed, EntryMeta } from '../spool/entry.ts';
import type { Arrival } from './intake.ts';

/**
 * What delivery needs from a channel: a function from an entry to a request. Delivery gets one
 * normalizer per channel; neither side imports the other.
 * @throws {NotYet} try the whole entry again later
 */
export type Normalizer = (claimed: Claimed, signal: AbortSignal) => Promise<Normalized>;

/** The create-message payload without what only delivery knows: media ids and `conversation.id`. */
export interface Normalized {
  readonly verdict: Verdict;
  readonly request: CreateMessageRequest;
  readonly attachments: readonly Attachment[];
  /** Lines for the timeline: what was trimmed, replaced or left out (counts, never content). */
  readonly findings: Readonly<Record<string, string | number | boolean>>;
  /** Text that was removed as a quote or signature: for the console, never for timeline or log. */
  readonly trimmed?: string;
  /** Set if nothing confirms who wrote: the network that it came from, or `FAILS_POLICY`. */
  readonly unverifiedFrom?: string;
  /** The shop has written it on its own phone: it becomes a note, on the embedded platform alone. */
  readonly isEcho?: boolean;
  /** How an email was read, for an operator who asks. */
  readonly reading?: EmailReading;
  /** What was determined before, each as a separate step of the timeline. */
  readonly steps?: readonly {
    readonly step: string;
    readonly detail: Readonly<Record<string, string>>;
  }[];
  /**
   * The message that delivers the late attachments (by their `part`). Delivery stores it in the
   * commit that settles this one as delivered.
   */
  followUp?(parts: readonly string[]): Arrival;
  /** Deletes scratch files. Called once, whatever the outcome of the attempt. */
  dispose(): Promise<void>;
}

/** Whether the message is submitted. */
export type Verdict =
  | {
      readonly kind: 'deliver';
      /** Timeline events to create besides (an opt-out that a person wrote as a message). */
      readonly events?: readonly CreateEventRequest[];
    }
  | { readonly kind: 'held'; readonly reason: Reason }
  | {
      readonly kind: 'suppressed';
      readonly reason: Reason;
      /** Timeline events to create instead (opt-out, bounce, automatic reply). */
      readonly events?: readonly CreateEventRequest[];
    };

export interface Attachment {
  /** Stable across attempts for the same content, so that a saved media id is found again. */
  readonly part: string;
  /** The line in the content when this attachment cannot be retrieved or uploaded. */
  readonly placeholder: string;
  /** The placeholder in the content for this image's URL, if its media is public. */
  readonly shownAs?: string;
  /** What is known before it is opened. */
  readonly about?: Pick<OpenAttachment, 'name' | 'type' | 'size'>;
  /**
   * Fetches or opens the content. Only called when no media id is saved.
   * @throws {AttachmentUnavailable} permanently: the placeholder goes into the content instead
   * @throws {AttachmentLate} temporarily: the placeholder goes into the content, and a follow-up
   * delivers the attachment
   */
  open(signal: AbortSignal): Promise<OpenAttachment>;
}

export interface OpenAttachment {
  readonly name: string;
  /** Sniffed MIME type. */
  readonly type: string;
  readonly size: number;
  /** A new stream from the first byte; may be called again for a second try. */
  stream(): Readable;
}

/**
 * The line in a message's content that replaces an attachment which the platform does not get.
 * @param what identifies it: file name, type, or the provider's id
 */
export function missingAttachment(
  how: 'delivered' | 'retrieved',
  ...what: readonly string[]
): string {
  return `[attachment could not be ${how}: ${what.join(', ')}]`;
}

/** The attachment is permanently unavailable. */
export class AttachmentUnavailable extends Error {
  override name = 'AttachmentUnavailable';
}

/** Not available yet: the message goes without it, `Normalized.followUp` delivers it later. */
export class AttachmentLate extends Error {
  override name = 'AttachmentLate';
}

interface NotYetOptions extends ErrorOptions {
  readonly memo?: EntryMeta;
  readonly detach?: boolean;
}

/** A dependency is not ready (a late picture, an unconfigured channel): the entry waits. */
export class NotYet extends Error {
  override name = 'NotYet';
  readonly reason: Reason;
  readonly retryAfterMs: number;
  /** Stored with the entry; the next attempt finds it as `channel` in `Claimed.notes`. */
  readonly memo: EntryMeta | undefined;
  /** The lane of the entry does not wait for it. */
  readonly detach: boolean;
  constructor(reason: Reason, retryAfterMs: number, options: NotYetOptions = {}) {
    super(sentence(reason), options);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.memo = options.memo;
    this.detach = options.detach ?? false;
  }
}
