import type { RefusalReason, SmtpRefusal } from './smtp-reply.ts';

/** Every answer of `POST /email/inbound` but the good ones: status, and words unless given. */
const REFUSALS = {
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

export type InboundReason = keyof typeof REFUSALS;

/** A negative answer in HTTP; `reason` is its name in the log and in metrics. */
export class InboundRefusal extends Error {
  override name = 'InboundRefusal';
  readonly status: number;
  readonly reason: InboundReason;

  constructor(reason: InboundReason, text?: string, options?: ErrorOptions) {
    const [status, words] = REFUSALS[reason];
    super(text ?? words, options);
    this.status = status;
    this.reason = reason;
  }
}

const SAME: ReadonlySet<string> = new Set(Object.keys(REFUSALS));

/** What the SMTP door would have answered, in HTTP: 429 and 5xx are for another try, the rest for good. */
export function fromSmtp(refusal: SmtpRefusal): InboundRefusal {
  const cause = { cause: refusal };
  if (isSame(refusal.reason)) return new InboundRefusal(refusal.reason, undefined, cause);
  const transient = refusal.responseCode < 500;
  return new InboundRefusal(transient ? 'unavailable' : 'rejected', undefined, cause);
}

function isSame(reason: RefusalReason | InboundReason): reason is InboundReason {
  return SAME.has(reason);
}
