/**
 * A negative SMTP reply (RFC 5321 §4.2, RFC 3463), thrown or passed to smtp-server, which sends
 * `responseCode` and the message. `reason` is its name in the log and in metrics.
 */
export class SmtpRefusal extends Error {
  override name = 'SmtpRefusal';
  readonly responseCode: number;
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options?: ErrorOptions) {
    const [code, status, text] = SMTP_REFUSALS[reason];
    super(`${status} ${text}`, options);
    this.responseCode = code;
    this.reason = reason;
  }
}

/** All refusals of the gateway itself: code, enhanced status code, text. */
const SMTP_REFUSALS = {
  too_many_connections: [421, '4.7.0', 'Too many connections, try again later'],
  too_many_errors: [421, '4.7.0', 'Too many errors'],
  too_many_commands: [421, '4.7.0', 'Too many commands without a message'],
  line_too_long: [421, '4.7.0', 'Command line too long'],
  early_talker: [421, '4.7.0', 'You talk before the greeting'],
  shutting_down: [421, '4.3.2', 'Shutting down, try again later'],
  idle: [421, '4.4.2', 'No message for too long, closing connection'],
  displaced: [421, '4.7.0', 'Too many connections, and this one stands still'],
  too_slow: [421, '4.4.2', 'Data comes too slowly, closing connection'],
  guessed_too_long: [421, '4.7.0', 'Too many unknown recipients'],
  guessing: [450, '4.7.1', 'Too many unknown recipients, try again later'],
  rate: [450, '4.7.1', 'Too many messages, try again later'],
  too_many_recipients: [452, '4.5.3', 'Too many recipients, send the rest in another message'],
  disk_short: [452, '4.3.1', 'Not enough disk space, try again later'],
  unavailable: [451, '4.3.0', 'Cannot store messages now, try again later'],
  unknown_recipient: [550, '5.1.1', 'No such mailbox here'],
  not_our_domain: [550, '5.7.1', 'No mail is relayed to this domain'],
  dmarc: [550, '5.7.1', "The sender's domain asks to refuse this message (DMARC)"],
  too_large: [552, '5.3.4', 'Message exceeds the size limit'],
  loop: [554, '5.4.6', 'Too many Received lines: the message loops'],
  unknown_parameter: [555, '5.5.4', 'Parameter not recognized'],
  needs_smtputf8: [553, '5.6.7', 'An address that is not ASCII needs the SMTPUTF8 parameter'],
  not_implemented: [502, '5.5.1', 'Command not implemented'],
} as const satisfies Record<string, readonly [number, string, string]>;

export type RefusalReason = keyof typeof SMTP_REFUSALS;

/** A reply text that begins with its own enhanced status code. */
export const HAS_STATUS = /^[245]\.\d{1,3}\.\d{1,3} /;

/** All refusals of `POST /email/inbound`: the status, and the default text. */
const HTTP_REFUSALS = {
  envelope: [400, 'The envelope is not complete'],
  too_many_recipients: [400, 'Too many recipients'],
  empty: [400, 'The body is empty: send the raw message'],
  unauthorized: [401, 'Give a token of email.inboundTokens as Authorization: Bearer'],
  unknown_recipient: [404, 'No such mailbox here'],
  method: [405, 'Send the message by POST'],
  too_slow: [408, 'Data comes too slowly'],
  too_large: [413, 'Message exceeds the size limit'],
  media_type: [415, 'Send the raw message as message/rfc822'],
  loop: [422, 'Too many Received lines: the message loops'],
  dmarc: [422, "The sender's domain asks to refuse this message (DMARC)"],
  rejected: [422, 'The message is refused'],
  rate: [429, 'Too many messages, try again later'],
  busy: [429, 'Too many messages at the same time, try again later'],
  disk_short: [503, 'Not enough disk space, try again later'],
  unavailable: [503, 'Cannot store messages now, try again later'],
} as const satisfies Record<string, readonly [number, string]>;

type InboundReason = keyof typeof HTTP_REFUSALS;

/** A negative HTTP response; `reason` is its name in the log and in metrics. */
export class InboundRefusal extends Error {
  override name = 'InboundRefusal';
  readonly status: number;
  readonly reason: InboundReason;

  constructor(reason: InboundReason, text?: string, options?: ErrorOptions) {
    const [status, words] = HTTP_REFUSALS[reason];
    super(text ?? words, options);
    this.status = status;
    this.reason = reason;
  }
}

/** The HTTP equivalent of an SMTP refusal: 429 and 5xx are temporary, all others permanent. */
export function fromSmtp(refusal: SmtpRefusal): InboundRefusal {
  const cause = { cause: refusal };
  if (isSame(refusal.reason)) return new InboundRefusal(refusal.reason, undefined, cause);
  const transient = refusal.responseCode < 500;
  return new InboundRefusal(transient ? 'unavailable' : 'rejected', undefined, cause);
}

function isSame(reason: RefusalReason | InboundReason): reason is InboundReason {
  return Object.hasOwn(HTTP_REFUSALS, reason);
}
