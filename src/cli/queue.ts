import { Option, type Command } from 'commander';
import type { ListOptions } from './list-entries.ts';
import type { ProcessEvents } from './process-end.ts';
import { withFilters } from './queue-filter.ts';
import type { Terminal } from './terminal.ts';
import { interval } from './time-argument.ts';
import { wholeNumber } from './platform/values.ts';
import { CHANNELS } from '../domain/channel.ts';
import type { StatsOptions } from './count-entries.ts';
import type { ShowOptions } from './show-entry.ts';
import type { ChangeOptions } from './change-entries.ts';
import { MOVES } from './queue-moves.ts';
import type { ExportOptions } from './export-entries.ts';

const MAX_LIMIT = 1000;

const withSearch = (command: Command): Command =>
  withFilters(
    command.argument(
      '[text...]',
      'words, or the start of words, in sender, recipient, subject, number or id',
    ),
  );

const withWatch = (command: Command): Command =>
  command
    .option('--watch', 'repeats the output until q or Ctrl-C is pressed')
    .addOption(
      new Option('--every <duration>', 'the interval of --watch')
        .argParser(interval)
        .default(2000, '2s'),
    );

export function registerQueueList(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  withWatch(
    withSearch(parent.command('list').description('lists entries, newest first'))
      .option('--before <id>', 'only entries older than this one: the next page')
      .option(
        '--limit <count>',
        `the number of entries, up to ${MAX_LIMIT}`,
        wholeNumber(MAX_LIMIT),
        50,
      )
      .addOption(new Option('--json', 'for programs: a JSON array').conflicts(['jsonl', 'watch']))
      .addOption(
        new Option('--jsonl', 'for programs: one JSON object per line').conflicts('watch'),
      ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice queue list ann@example --state dead held --since 7d\n' +
        '  $ sluice queue list --channel email --reason "the platform answered 422" --json\n' +
        '  $ sluice queue list --state queued --watch',
    )
    .action(async (words: string[], options: ListOptions, command: Command) => {
      const { listEntries } = await import('./list-entries.ts');
      await listEntries(words, options, command, terminal, events);
    });
}

export function registerQueueStats(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  withWatch(
    parent
      .command('stats')
      .description('counts entries that are not delivered, by shop, channel, state and age')
      .addOption(new Option('--channel <channel>', 'only this channel').choices(CHANNELS))
      .option('--shop <name>', 'only this shop')
      .addOption(new Option('--json', 'for programs: a JSON array').conflicts('watch')),
  )
    .addHelpText(
      'after',
      '\nAges are counted from reception. Oldest: the age of the oldest entry. Due: when the next one is tried.\n\n' +
        'Example:\n  $ sluice queue stats --watch',
    )
    .action(async (options: StatsOptions, command: Command) => {
      const { countEntries } = await import('./count-entries.ts');
      await countEntries(options, command, terminal, events);
    });
}

export function registerQueueShow(parent: Command, terminal: Terminal): void {
  parent
    .command('show')
    .description('prints an entry with its timeline and what was submitted')
    .argument('<id>', 'the id that log, list and console show, or its beginning')
    .addOption(new Option('--json', 'for programs: one JSON object').conflicts(['raw', 'trimmed']))
    .addOption(
      new Option('--payload', 'the create-message request alone, as JSON').conflicts([
        'raw',
        'trimmed',
      ]),
    )
    .addOption(
      new Option('--trimmed', 'the text that was trimmed as quote or signature').conflicts('raw'),
    )
    .option('--raw', 'the message as received, byte for byte: for a file or a pipe')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice queue show 01936f0a-7c1e-7d3a-9b52-3f1c7a6b5d40\n' +
        '  $ sluice queue show 01936f0a-7c1e-7d3a-9b52-3f1c7a6b5d40 --raw > message.eml',
    )
    .action(async (id: string, options: ShowOptions, command: Command) => {
      const { showEntry } = await import('./show-entry.ts');
      await showEntry(id, options, command, terminal);
    });
}

const EXAMPLES = {
  retry: '--all --state dead --shop acme --since 2h',
  release: '--all --reason dmarc',
  discard: '--all --state suppressed --until 30d --yes',
  restore: '--all --since 1h',
  undo: '--all --shop acme',
} as const;

/**
 * The operator's moves, by ids or by a filter. A running gateway notices a retry within two seconds.
 */
export function registerQueueChange(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  for (const move of MOVES) {
    const command = withFilters(
      parent
        .command(move.name)
        .description(move.description)
        .argument('[id...]', 'ids of entries, or their beginnings'),
    );
    if (move.name === 'retry') {
      command.option(
        '--no-wait',
        'returns at once instead of waiting up to 10 s for the result (up to 20 ids)',
      );
    }
    command
      .option('--all', 'all entries that match the filters')
      .option('--text <words>', 'only entries with these words in sender, subject or ids')
      .option('--dry-run', 'shows what would be changed')
      .option('--yes', 'skips the confirmation')
      .option('--json', 'for programs: a JSON array, with --all one JSON object')
      .addHelpText(
        'after',
        `\nExample:\n  $ sluice queue ${move.name} 01936f0a-7c1e-7d3a-9b52-3f1c7a6b5d40\n` +
          `  $ sluice queue ${move.name} ${EXAMPLES[move.name]}\n` +
          `  $ sluice queue ${move.name} ${EXAMPLES[move.name].replace(' --yes', '')} --dry-run`,
      )
      .action(async (ids: string[], options: ChangeOptions, command: Command) => {
        const { changeEntries } = await import('./change-entries.ts');
        await changeEntries(move, ids, options, command, terminal, events);
      });
  }
}

export function registerQueueExport(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  withSearch(
    parent
      .command('export')
      .description('writes entries to a file: emails as mbox, or everything as JSON lines'),
  )
    .addOption(
      new Option('--format <format>', 'mbox (emails, for mail programs) or jsonl (ingest reads it)')
        .choices(['mbox', 'jsonl'])
        .default('jsonl'),
    )
    .option(
      '-o, --output <file>',
      'the file, created when it is complete (default: standard output)',
    )
    .option('--no-raw', 'without the raw messages (jsonl)')
    .option('--json', 'for programs: with --output, the result as one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice queue export --state dead --since 7d -o dead.jsonl\n' +
        '  $ sluice queue export --format mbox --shop acme -o acme.mbox\n\n' +
        "The file contains customers' messages and is readable by its owner only.",
    )
    .action(async (words: string[], options: ExportOptions, command: Command) => {
      const { exportEntries } = await import('./export-entries.ts');
      await exportEntries(words, options, command, terminal, events);
    });
}
