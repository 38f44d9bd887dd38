import type { Attachment, OpenAttachment } from '../intake/normalizer.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';

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
