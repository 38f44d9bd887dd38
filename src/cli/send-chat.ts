import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseDuration } from '../config/duration.ts';
import type { ChatOptions } from './chat-as-visitor.ts';
import { SAMPLE_QUESTION } from './samples.ts';
import { withTarget } from './send-target.ts';
import type { Terminal } from './terminal.ts';

export function registerSendChat(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('chat'))
    .description("sends a chat message as a new visitor and prints the agent's reply")
    .argument('[text]', 'the message')
    .option('--text <text>', 'the message, instead of the argument')
    .addOption(new Option('--file <path...>', 'files to send along').default([], 'none'))
    .option('--name <name>', 'what the visitor says his name is')
    .option('--email <address>', 'what the visitor says his address is')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for the reply; 0s does not wait')
        .argParser(wait)
        .default(30_000, '30s'),
    )
    .option('--json', 'print one JSON object', false)
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
