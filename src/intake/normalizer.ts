import type { Readable } from 'node:stream';
import type { CreateEventRequest, CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Claimed } from '../spool/entry.ts';
import type { Arrival } from './intake.ts';

/**
 * What delivery needs from a channel, and all it needs: a function from an entry to a request.
 * Delivery is handed one normalizer per channel; neither side imports the other.
 * @throws {NotYet} try the whole entry again later
 */
export type Normalizer = (claimed: Claimed, signal: AbortSignal) => Promise<Normalized>;

/** The create-message payload, less what only delivery knows: media ids and `conversation.id`. */
export interface Normalized {
  readonly verdict: Verdict;
  readonly request: CreateMessageRequest;
  readonly attachments: readonly Attachment[];
  /** Lines for the timeline: what was trimmed, replaced or left out (counts, never content). */
  readonly notes: Readonly<Record<string, string | number | boolean>>;
  /** Text that was taken away as quote or signature: for the console, never for timeline or log. */
  readonly trimmed?: string;
  /** What was found out before, each a step of the timeline of its own. */
  readonly steps?: readonly {
    readonly step: string;
    readonly detail: Readonly<Record<string, string>>;
  }[];
  /**
   * The message that brings the attachments which were late (their `part`s). Delivery stores it in
   * the commit that settles this one as delivered.
   */
  followUp?(parts: readonly string[]): Arrival;
  /** Frees scratch files. Called once, whatever became of the attempt. */
  dispose(): Promise<void>;
}

/** Whether the message is submitted at all. */
export type Verdict =
  | { readonly kind: 'deliver' }
  | { readonly kind: 'held'; readonly reason: string }
  | {
      readonly kind: 'suppressed';
      readonly reason: string;
      /** Lines for contacts' timelines instead (opt-out, bounce, automatic reply). */
      readonly events?: readonly CreateEventRequest[];
    };

export interface Attachment {
  /** The same on every attempt for the same content, so that a saved media id is found again. */
  readonly part: string;
  /** The line that stands in the content when this attachment cannot be had or uploaded. */
  readonly placeholder: string;
  /** What stands in the content for the address of this image, where its media is public. */
  readonly shownAs?: string;
  /** What is known of it before it is opened. */
  readonly about?: Pick<OpenAttachment, 'name' | 'type' | 'size'>;
  /**
   * Fetches or opens the content. Only called when no media id is saved.
   * @throws {AttachmentUnavailable} for good: the placeholder goes into the content instead
   * @throws {AttachmentLate} for now: the placeholder goes into the content, a follow-up brings it
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

/** The attachment cannot be had, now or later. */
export class AttachmentUnavailable extends Error {
  override name = 'AttachmentUnavailable';
}

/** It cannot be had yet. The message goes without it; `Normalized.followUp` brings it later. */
export class AttachmentLate extends Error {
  override name = 'AttachmentLate';
}

/** Something outside is not ready (a late picture, a channel not configured): the entry waits. */
export class NotYet extends Error {
  override name = 'NotYet';
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}
