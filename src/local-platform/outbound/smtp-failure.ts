import { SendFailed } from './outbound.ts';

/** What nodemailer says about a mail that did not go out; its own type is of its callbacks only. */
interface SmtpError {
  readonly code: string;
  readonly responseCode: number | undefined;
  readonly command: string;
}

/**
 * What an attempt through a relay came to (RFC 5321 §4.2.1):
 *
 * | the relay | the reply |
 * | --- | --- |
 * | 5xx to the sender, the recipient or the message | is refused for good |
 * | 4xx, anywhere | is tried again |
 * | 5xx to greeting, EHLO, STARTTLS or AUTH, or to want a password (530) or TLS | is tried again: an operator can mend that, and no reply is lost by a password that was changed |
 * | 503, a reply out of order | is tried again, on a new connection |
 * | no connection, no name, no TLS, nothing said in time | is tried again |
 *
 * The relay's words are left out: they quote the address.
 */
export function smtpFailure(error: unknown): SendFailed {
  if (error instanceof SendFailed) return error;
  const { code, responseCode, command } = read(error);
  if (responseCode !== undefined) {
    const kind = isRefusal(responseCode, command) ? 'permanent' : 'transient';
    return new SendFailed(kind, `the relay answered ${responseCode}`, {
      code: String(responseCode),
    });
  }
  // Nobody was asked: the message itself cannot be sent.
  const isOurs = ['EENVELOPE', 'EMESSAGE', 'ESTREAM'].includes(code) && command !== 'CONN';
  return new SendFailed(isOurs ? 'permanent' : 'transient', 'the relay was not reached', { code });
}

function isRefusal(responseCode: number, command: string): boolean {
  if (responseCode < 500 || responseCode === 503 || responseCode === 530) return false;
  return /^(?:MAIL|RCPT|DATA)/.test(command);
}

function read(error: unknown): SmtpError {
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {};
  const { code, responseCode, command } = fields;
  return {
    code: typeof code === 'string' ? code : 'EUNKNOWN',
    responseCode: typeof responseCode === 'number' ? responseCode : undefined,
    command: typeof command === 'string' ? command : '',
  };
}
