import { Option, type Command } from 'commander';
import { SAMPLE_QUESTION, SAMPLE_SENDER } from './samples.ts';
import type { EmailOptions } from './send-sample-email.ts';
import { withTarget } from './send-target.ts';
import type { Terminal } from './terminal.ts';

export function registerSendEmail(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('email'))
    .description('sends an email over SMTP, with STARTTLS when it is offered')
    .argument('<text>', 'the body')
    .option('--from <address>', 'the sender', SAMPLE_SENDER)
    .option('--to <address>', "the recipient (default: the shop's first address)")
    .option('--subject <subject>', 'the subject', SAMPLE_QUESTION)
    .addOption(new Option('--attach <file...>', 'files to attach').default([], 'none'))
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice send email "The lamp is broken" --attach lamp.jpg',
    )
    .action(async (text: string, options: EmailOptions, command: Command) => {
      const { sendSampleEmail } = await import('./send-sample-email.ts');
      await sendSampleEmail(text, options, command, terminal);
    });
}
