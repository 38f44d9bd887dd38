import type { Command } from 'commander';
import { runningConfiguration } from './configuration.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { shopWith, target, unreachable, type TargetOptions } from './send-target.ts';
import { signedWebhook, SMS_PATH } from '../gateway/sample-messages/sms-webhook.ts';
import { printable, type Terminal } from './terminal.ts';

export interface SmsOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
}

const TIMEOUT_MS = 20_000;
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
  const { params, signature } = signedWebhook({
    accountSid: sms.twilio.accountSid,
    authToken: sms.twilio.authTokens[0]?.reveal() ?? '',
    publicUrl: config.http.publicUrl,
    from: options.from,
    to: options.to ?? sms.numbers[0] ?? '',
    body: text,
  });
  const answer = await post(where, params, signature);
  if (answer.status !== 200) throw new CommandFailed(refusal(answer, params, where));
  terminal.out(`accepted: ${params['MessageSid'] ?? ''}\n`);
}

interface Answer {
  readonly status: number;
  /** The webhook's reason for a refusal, in one line. */
  readonly text: string;
}

async function post(
  where: URL,
  params: Readonly<Record<string, string>>,
  signature: string,
): Promise<Answer> {
  try {
    const response = await fetch(new URL(SMS_PATH, where), {
      method: 'POST',
      headers: { 'x-twilio-signature': signature },
      body: new URLSearchParams(params),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = printable(await response.text())
      .trim()
      .slice(0, MAX_SHOWN);
    return { status: response.status, text };
  } catch (error) {
    throw unreachable('the webhook', where, error);
  }
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
