/**
 * A bounce as an event on the recipient's timeline: the email channel writes it, and the local
 * platform reads which of its replies did not arrive. Other platforms show it as it is.
 */
export const NOT_DELIVERED = 'Email not delivered';

const MESSAGE_ID = 'Message-ID: ';
/** Before the words of the server (RFC 3464 §2.3.6). */
const DIAGNOSTIC_TYPE = /^smtp; ?/i;

/** The event's description; empty if the bounce says nothing. */
export const describeMailFailure = (reason: string, messageId: string | undefined): string =>
  [reason, messageId && `${MESSAGE_ID}${messageId}`].filter(Boolean).join('\n');

export interface MailFailure {
  /** Of the email that was not delivered, in angle brackets. */
  readonly messageId: string;
  /** What the bounce says, with the code if it has one. */
  readonly reason: string;
  /** RFC 3463, else the code of SMTP (RFC 5321 §4.2). */
  readonly code?: string;
}

/** The failure that an event tells of; undefined if it is another event, or names no email. */
export function readMailFailure(event: {
  readonly name: string;
  readonly description?: string | undefined;
}): MailFailure | undefined {
  if (event.name !== NOT_DELIVERED) return undefined;
  const lines = (event.description ?? '').split('\n');
  const messageId = lines.find((line) => line.startsWith(MESSAGE_ID))?.slice(MESSAGE_ID.length);
  if (messageId === undefined) return undefined;
  const reason = lines
    .filter((line) => !line.startsWith(MESSAGE_ID))
    .join(' ')
    .replace(DIAGNOSTIC_TYPE, '');
  const code = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(reason)?.[0] ?? /\b[45]\d\d\b/.exec(reason)?.[0];
  return { messageId, reason, ...(code !== undefined && { code }) };
}
