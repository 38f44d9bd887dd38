/** A reply of the agent's, on its way to the customer. */
export interface OutgoingReply {
  /** The id of the Message that it is. */
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
  readonly at: Date;
  /** WhatsApp only: the customer wrote too long ago for a text of one's own. */
  readonly needsTemplate?: boolean;
  /** Email only: what the reply's headers are made of. */
  readonly email: EmailThread | undefined;
}

export interface EmailThread {
  /** In angle brackets. A customer's answer to it threads on this id. */
  readonly messageId: string;
  readonly subject: string;
  /** Of the customer's message, when it has one. */
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
}

/** One try to send a reply. */
export interface Attempt {
  /** When an earlier attempt began of which nobody knows whether it went out. */
  readonly unsureSince: Date | undefined;
  /** How many parts of the reply are out. */
  readonly partsSent: number;
  /** Notes, durably, that one more part is out; the reply's `remote_id` is that of its first. */
  readonly partSent: (remoteId: string) => Promise<void>;
  /** Whether another message of the shop is what the provider calls by this id. */
  readonly isKnown: (remoteId: string) => boolean;
  /** Aborted when the program can wait no longer. */
  readonly signal: AbortSignal;
}

/** The way out of one channel. */
export interface Outbound {
  /** A reply waits for those before it in its conversation. */
  readonly inOrder: boolean;
  /** Sent twice is as good as sent once: no attempt has to be noted before it begins. */
  readonly canRepeat: boolean;
  /**
   * Resolves when the reply has been taken over: by the relay, by the provider, by the disk.
   * @throws {SendFailed}
   */
  send(reply: OutgoingReply, attempt: Attempt): Promise<Sent>;
  /** Gives back what it holds: connections. */
  close?(): void;
}

export interface Sent {
  /** Where it landed, when it is a file. */
  readonly outboxPath?: string;
}

/**
 * The reply did not get out. `permanent`: it never will. `transient`: it may at another time.
 * `unsure`: it may have gone out, and nobody said so; tried again, with that in mind.
 */
export class SendFailed extends Error {
  override name = 'SendFailed';
  readonly kind: 'permanent' | 'transient' | 'unsure';
  /** The other side's own code: an SMTP reply code, a Twilio error. */
  readonly code: string | undefined;

  constructor(
    kind: SendFailed['kind'],
    message: string,
    detail: { code?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.kind = kind;
    this.code = detail.code;
  }
}

/** The customer left no way to reach him, or the shop no address to write from. */
export const unreachable = (missing: string) =>
  new SendFailed('permanent', `${missing} is missing`);

/** A full disk is emptied, a folder's rights are mended: what could not be written is tried again. */
export function diskFailure(error: unknown): SendFailed {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return new SendFailed('transient', 'the folder cannot be written', { code, cause: error });
}
