import type { Command } from 'commander';
import { SAMPLE_NUMBER } from './banner.ts';
import { runningConfiguration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { shopWith, target, unreachable, withTarget, type TargetOptions } from './send-target.ts';
import { signedWebhook, SMS_PATH } from './sms-webhook.ts';
import type { Terminal } from './terminal.ts';

interface SmsOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
}

const TIMEOUT_MS = 20_000;

export function registerSendSms(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('sms'))
    .description("posts a text to the webhook as Twilio would, signed with the shop's token")
    .argument('<text>', 'the text')
    .option('--from <number>', 'the sender', SAMPLE_NUMBER)
    .option('--to <number>', "the recipient (default: the shop's first number)")
    .addHelpText('after', '\nExample:\n  $ sluice send sms "Are you open on Sunday?"')
    .action(async (text: string, options: SmsOptions, command: Command) => {
      const config = await runningConfiguration(command, terminal);
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
      const status = await post(where, params, signature);
      if (status !== 200) throw new CommandFailed(refusal(status));
      terminal.out(`accepted: ${params['MessageSid'] ?? ''}\n`);
    });
}

async function post(
  where: URL,
  params: Readonly<Record<string, string>>,
  signature: string,
): Promise<number> {
  try {
    const response = await fetch(new URL(SMS_PATH, where), {
      method: 'POST',
      headers: { 'x-twilio-signature': signature },
      body: new URLSearchParams(params),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    throw unreachable('the webhook', where, error);
  }
}

function refusal(status: number): string {
  if (status === 403) {
    return 'refused: 403, the signature does not match; does the gateway run on this configuration?';
  }
  if (status === 503) return 'refused: 503, the gateway cannot store messages now';
  return `refused: ${status}`;
}
