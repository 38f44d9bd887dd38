import type { Command } from 'commander';
import type { SmsOptions } from './post-sample-sms.ts';
import { SAMPLE_NUMBER } from './samples.ts';
import { withTarget } from './send-target.ts';
import type { Terminal } from './terminal.ts';

export function registerSendSms(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('sms'))
    .description("posts a text to the webhook as Twilio would, signed with the shop's token")
    .argument('<text>', 'the text')
    .option('--from <number>', 'the sender', SAMPLE_NUMBER)
    .option('--to <number>', "the recipient (default: the shop's first number)")
    .addHelpText('after', '\nExample:\n  $ sluice send sms "Are you open on Sunday?"')
    .action(async (text: string, options: SmsOptions, command: Command) => {
      const { postSampleSms } = await import('./post-sample-sms.ts');
      await postSampleSms(text, options, command, terminal);
    });
}
