import { Option, type Command } from 'commander';
import type { ExportOptions } from './export-entries.ts';
import type { ProcessEvents } from './process-end.ts';
import { TEXT_ARGUMENT, withFilters } from './queue-filter.ts';
import type { Terminal } from './terminal.ts';

export function registerQueueExport(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  withFilters(
    parent
      .command('export')
      .description('writes entries to a file: emails as mbox, or everything as JSON lines')
      .argument('[text...]', TEXT_ARGUMENT),
  )
    .addOption(
      new Option('--format <format>', 'mbox (emails, for mail programs) or jsonl (ingest reads it)')
        .choices(['mbox', 'jsonl'])
        .default('jsonl'),
    )
    .option('-o, --output <file>', 'the file, which appears when it is whole (default: printed)')
    .option('--no-raw', 'without what arrived (jsonl)')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice queue export --state dead --since 7d -o dead.jsonl\n' +
        '  $ sluice queue export --format mbox --shop acme -o acme.mbox\n\n' +
        'The file holds what customers wrote: only its owner may read it.',
    )
    .action(async (words: string[], options: ExportOptions, command: Command) => {
      const { exportEntries } = await import('./export-entries.ts');
      await exportEntries(words, options, command, terminal, events);
    });
}
