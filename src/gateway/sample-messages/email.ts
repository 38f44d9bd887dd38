import { basename } from 'node:path';
import { createTransport } from 'nodemailer';
import { NoAnswer, Unsent } from './unsent.ts';

export interface SampleEmail {
  readonly where: URL;
  readonly lmtp: boolean;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** File paths. */
  readonly attach?: readonly string[];
}

export interface SentEmail {
  /** The server's reply to the final dot. */
  readonly response: string;
  /** In angle brackets. */
  readonly messageId: string;
}

/**
 * Sends one message to a gateway, as any mail server would, with STARTTLS when it is offered.
 * @throws {Unsent} {NoAnswer}
 */
export async function sendEmail(mail: SampleEmail): Promise<SentEmail> {
  const { where, lmtp, from, to, subject, text, attach = [] } = mail;
  const transport = createTransport({
    host: where.hostname.replace(/^\[|\]$/g, ''),
    port: Number(where.port || 80),
    lmtp,
    name: 'sluice.localhost',
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 90_000,
    // The message goes to our own gateway, whose certificate is self-signed by default.
    tls: { rejectUnauthorized: false },
  });
  try {
    const attachments = attach.map((path) => ({ path, filename: basename(path) }));
    const sent = await transport.sendMail({ from, to, subject, text, attachments });
    return { response: sent.response, messageId: sent.messageId };
  } catch (error) {
    const response = error instanceof Error && 'response' in error ? error.response : undefined;
    if (typeof response === 'string') throw new Unsent(`refused: ${response}`, { cause: error });
    throw new NoAnswer('SMTP', where, { cause: error });
  } finally {
    transport.close();
  }
}
