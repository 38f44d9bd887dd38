import type { PublicFile } from './reply-files.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** A reply of the agent or a person that is to be sent to the customer. */
export interface OutgoingReply {
  /** The id of its Message. */
  readonly id: string;
  readonly shop: string;
  readonly content: string;
  readonly format: string;
  /** The shop's address or number that the customer wrote to. */
  readonly from: string | undefined;
  readonly fromName: string;
  /** The customer's address or number. */
  readonly to: string | undefined;
  readonly toName: string | undefined;
  /** Email only: the address in the header To, if it is not `to`. */
  readonly shownTo?: string;
  readonly at: Date;
  /** Whether a person wrote it. */
  readonly isByPerson?: boolean;
  /** Email only. */
  readonly files?: readonly OutgoingFile[];
  /** Texts only: its files. */
  readonly links?: readonly PublicFile[];
  /** WhatsApp only: the customer service window has closed, so only a template may be sent. */
  readonly needsTemplate?: boolean;
  /** Email only: the values of the reply's headers. */
  readonly email: EmailThread | undefined;
  /** Email only: further headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Email only: below the reply. */
  readonly footer?: EmailFooter | undefined;
}

export interface EmailFooter {
  readonly words: string;
  readonly url: string;
}

export interface OutgoingFile {
  readonly name: string;
  readonly type: string;
  /** On the disk. */
  readonly path: string;
}

export interface EmailThread {
  /** In angle brackets. The customer's next email refers to it. */
  readonly messageId: string;
  readonly subject: string;
  /** The message-id of the customer's message, if it has one. */
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
}

/** An attempt to send a reply. */
export interface Attempt {
  /** When the first earlier attempt with an unknown result began. */
  readonly unsureSince: Date | undefined;
  /** The number of parts that have been sent. */
  readonly partsSent: number;
  /** Records durably that a part was sent. The first part's id becomes the reply's `remote_id`. */
  readonly partSent: (remoteId: string) => Promise<void>;
  /** Whether another reply of the shop has this provider id. */
  readonly isKnown: (remoteId: string) => boolean;
  /** Aborted when the program is about to end. */
  readonly signal: AbortSignal;
}

/** Sends the replies of one channel. */
export interface Outbound {
  /** Whether a reply waits for the earlier replies of its conversation. */
  readonly inOrder: boolean;
  /** Whether sending twice is harmless; then attempts are not recorded before they begin. */
  readonly canRepeat: boolean;
  /**
   * Resolves when the relay or provider has accepted the reply, or it is durable on disk.
   * @throws {SendFailed}
   */
  send(reply: OutgoingReply, attempt: Attempt): Promise<Sent>;
  /** Closes its connections. */
  close?(): void;
}

export interface Sent {
  /** The file that the reply was written to, if any. */
  readonly outboxPath?: string;
}

/**
 * The reply was not sent. `permanent`: do not retry. `transient`: retry later. `unsure`: it may have
 * been sent without a confirmation; the next attempt checks that first.
 */
export class SendFailed extends Error {
  override name = 'SendFailed';
  readonly kind: 'permanent' | 'transient' | 'unsure';
  /** The code of the other side: an SMTP reply code or a provider's error. */
  readonly code: string | undefined;
  /** What the code means, for people; the message is for the log. */
  readonly words: string | undefined;

  constructor(
    kind: SendFailed['kind'],
    message: string,
    detail: { code?: string | undefined; words?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.kind = kind;
    this.code = detail.code;
    this.words = detail.words;
  }
}

/** An address or number of the customer or the shop is missing. */
export const unreachable = (missing: string) =>
  new SendFailed('permanent', `${missing} is missing`);

/** Disk errors are retried: an operator can free space or fix permissions. */
export function diskFailure(error: unknown): SendFailed {
  const code = codeOf(error) || undefined;
  return new SendFailed('transient', 'the folder cannot be written', { code, cause: error });
}
