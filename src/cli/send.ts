import { Option, type Command, InvalidArgumentError } from 'commander';
import type { EmailOptions, SmsOptions } from './send-samples.ts';
import { withTarget } from './send-target.ts';
import type { Terminal } from './terminal.ts';
import { parseDuration } from '../config/duration.ts';
import type { ChatOptions } from './chat-as-visitor.ts';

/**
 * The sample sender, text and number. Names under `.example` do not exist in DNS (RFC 2606 §2),
 * while example.com rejects all mail in its name by DMARC, so such mail would be held. The number
 * is from the block that is reserved for fiction.
 */
export const SAMPLE_SENDER = 'ada@customer.example';
export const SAMPLE_NUMBER = '+12025550187';
export const SAMPLE_QUESTION = 'Where is my order?';

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
      const { sendSampleEmail } = await import('./send-samples.ts');
      await sendSampleEmail(text, options, command, terminal);
    });
}

export function registerSendSms(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('sms'))
    .description("posts a text to the webhook as Twilio would, signed with the shop's token")
    .argument('<text>', 'the text')
    .option('--from <number>', 'the sender', SAMPLE_NUMBER)
    .option('--to <number>', "the recipient (default: the shop's first number)")
    .addHelpText('after', '\nExample:\n  $ sluice send sms "Are you open on Sunday?"')
    .action(async (text: string, options: SmsOptions, command: Command) => {
      const { postSampleSms } = await import('./send-samples.ts');
      await postSampleSms(text, options, command, terminal);
    });
}

export function registerSendChat(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('chat'))
    .description("sends a chat message as a new visitor and prints the agent's reply")
    .argument('[text]', 'the message')
    .option('--text <text>', 'the message, instead of the argument')
    .addOption(new Option('--file <path...>', 'files to send along').default([], 'none'))
    .option('--name <name>', 'the name that the visitor gives')
    .option('--email <address>', 'the address that the visitor gives')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for the reply; 0s does not wait')
        .argParser(wait)
        .default(30_000, '30s'),
    )
    .addHelpText(
      'after',
      `\nExample:\n  $ sluice send chat "${SAMPLE_QUESTION}"` +
        '\n  $ sluice send chat "The lamp is broken" --file lamp.jpg --name Ada --wait 2m',
    )
    .action(async (argument: string | undefined, options: ChatOptions, command: Command) => {
      const { chatAsVisitor } = await import('./chat-as-visitor.ts');
      await chatAsVisitor(argument, options, command, terminal);
    });
}

function wait(value: string): number {
  const duration = parseDuration(value);
  if (duration === undefined)
    throw new InvalidArgumentError('Expected a duration such as 30s or 2m.');
  return duration;
}
