import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ListOptions } from './list-entries.ts';
import type { ProcessEvents } from './process-end.ts';
import { TEXT_ARGUMENT, withFilters } from './queue-filter.ts';
import type { Terminal } from './terminal.ts';
import { interval } from './time-argument.ts';

const MAX_LIMIT = 1000;

export function registerQueueList(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  withFilters(
    parent
      .command('list')
      .description('lists entries, newest first')
      .argument('[text...]', TEXT_ARGUMENT),
  )
    .option('--before <id>', 'only entries older than this one: the next page')
    .option('--limit <count>', `at most so many, up to ${MAX_LIMIT}`, limit, 50)
    .addOption(new Option('--json', 'for programs: a JSON array').conflicts(['jsonl', 'watch']))
    .addOption(new Option('--jsonl', 'for programs: a JSON object a line').conflicts('watch'))
    .addOption(new Option('--watch', 'shows it again and again; q or Ctrl-C ends it'))
    .addOption(
      new Option('--every <duration>', 'how often --watch looks')
        .argParser(interval)
        .default(2000, '2s'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice queue list ann@example --state dead held --since 7d\n' +
        '  $ sluice queue list --channel email --reason "answer 422" --json\n' +
        '  $ sluice queue list --state queued --watch',
    )
    .action(async (words: string[], options: ListOptions, command: Command) => {
      const { listEntries } = await import('./list-entries.ts');
      await listEntries(words, options, command, terminal, events);
    });
}

function limit(value: string): number {
  const count = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > MAX_LIMIT) {
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_LIMIT}.`);
  }
  return count;
}
