import type { Command } from 'commander';
import { sendEmail } from '../gateway/sample-messages/email.ts';
import { firstInbox } from '../gateway/sample-messages/first-inbox.ts';
import { postWebhook, signedWebhook } from '../gateway/sample-messages/sms-webhook.ts';
import { runningConfiguration } from './configuration.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { fileSize } from './file-size.ts';
import { document } from './json.ts';
import { sendFailure, shopWith, target, type TargetOptions } from './send-target.ts';
import { printable, type Terminal } from './terminal.ts';

export interface EmailOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
  readonly subject: string;
  readonly attach: readonly string[];
}

/** `send email` */
export async function sendSampleEmail(
  text: string,
  options: EmailOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const config = await runningConfiguration(command, terminal);
  const to = options.to ?? firstInbox(shopWith(config, 'email', options.shop).addresses);
  for (const file of options.attach) await fileSize(file);
  const where = target(config.smtp, options);
  try {
    const { from, subject, attach } = options;
    const { lmtp } = config.smtp;
    const sent = await sendEmail({ where, lmtp, from, to, subject, text, attach });
    const { response } = sent;
    terminal.out(
      options.json ? document({ from, to, response }) : `accepted: ${printable(response)}\n`,
    );
  } catch (error) {
    throw sendFailure(error);
  }
}

export interface SmsOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
}

const MAX_SHOWN = 200;

/** `send sms` */
export async function postSampleSms(
  text: string,
  options: SmsOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const config = await runningConfiguration(command, terminal);
  if (!config.http.enabled) {
    throw new UsageError('http.enabled is false: this gateway has no webhook');
  }
  const sms = shopWith(config, 'sms', options.shop);
  const where = target(config.http, options);
  const { from, to } = options;
  const { numbers, twilio } = sms;
  if (twilio === undefined) {
    throw new UsageError(
      'only webhooks of Twilio can be made up: to test this shop, send a text to one of its numbers',
    );
  }
  const webhook = signedWebhook({ numbers, twilio }, config.http.publicUrl, {
    from,
    to,
    body: text,
  });
  const { params } = webhook;
  try {
    const { status, text: said } = await postWebhook(where, webhook);
    const answer = { status, text: printable(said).trim().slice(0, MAX_SHOWN) };
    if (status !== 200) throw new CommandFailed(refusal(answer, params, where));
    const { From, To, MessageSid = '' } = params;
    terminal.out(
      options.json
        ? document({ from: From, to: To, messageSid: MessageSid })
        : `accepted: ${MessageSid}\n`,
    );
  } catch (error) {
    throw sendFailure(error);
  }
}

interface Answer {
  readonly status: number;
  /** The webhook's reason for a refusal, in one line. */
  readonly text: string;
}

/** Why the webhook refused the message; the responses are those of `createSmsWebhook`. */
function refusal(
  { status, text }: Answer,
  params: Readonly<Record<string, string>>,
  where: URL,
): string {
  const said = `refused: ${status}`;
  if (status === 403 && text.startsWith('No shop')) {
    return `${said}, no shop of the gateway has the number ${params['To'] ?? ''}; check sms.numbers in the gateway's configuration`;
  }
  if (status === 403) {
    return (
      `${said}, the signature does not match; does the gateway run with this configuration, ` +
      'with the same http.publicUrl and first authTokens?'
    );
  }
  if (status === 503) return `${said}, the gateway cannot store messages now; see its log`;
  if (status === 400) return `${said}, ${text}`;
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    return `${said}; another program listens at ${where.host}`;
  }
  return said;
}
