/** A reply of the agent's, on its way to the customer. */
export interface OutgoingReply {
  /** The id of the Message that it is. */
  readonly id: string;
  readonly text: string;
  /** The shop's address or number that the customer wrote to. */
  readonly from: string | undefined;
  readonly fromName: string;
  /** The customer's address or number. */
  readonly to: string | undefined;
  readonly toName: string | undefined;
  readonly at: Date;
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

/**
 * The way out of one channel.
 * Sending the same reply twice must do no harm: a stop between sending and noting it repeats it.
 * @throws when the reply did not get out; it is then FAILED
 */
export interface Outbound {
  send(reply: OutgoingReply, signal: AbortSignal): Promise<Sent>;
}

export interface Sent {
  /** Where it landed, when it is a file. */
  readonly outboxPath?: string;
}

/** The customer left no way to reach him, or the shop no address to write from. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}
