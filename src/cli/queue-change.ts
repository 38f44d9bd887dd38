import type { Command } from 'commander';
import type { ChangeOptions } from './change-entries.ts';
import type { ProcessEvents } from './process-end.ts';
import { withFilters } from './queue-filter.ts';
import { MOVES } from './queue-moves.ts';
import type { Terminal } from './terminal.ts';

const EXAMPLES = {
  retry: '--all --state dead --shop acme --since 2h',
  release: '--all --reason dmarc',
  discard: '--all --state suppressed --until 30d --yes',
  restore: '--all --since 1h',
} as const;

/** The operator's moves, by ids or by a filter. A retry is noticed by a running gateway within a second. */
export function registerQueueChange(
  parent: Command,
  terminal: Terminal,
  events: ProcessEvents,
): void {
  for (const move of MOVES) {
    const command = withFilters(
      parent.command(move.name).description(move.description).argument('[id...]', 'ids of entries'),
    );
    if (move.name === 'retry') {
      command.option(
        '--no-wait',
        'returns at once instead of waiting up to 10 s for the result (up to 20 ids)',
      );
    }
    command
      .option('--all', 'all that the filters find')
      .option('--text <words>', 'only those that have these words in sender, subject or ids')
      .option('--yes', 'does not ask')
      .option('--json', 'for programs: a JSON array, with --all one object')
      .addHelpText(
        'after',
        `\nExample:\n  $ sluice queue ${move.name} 01936f0a-7c1e-7d3a-9b52-3f1c7a6b5d40\n` +
          `  $ sluice queue ${move.name} ${EXAMPLES[move.name]}`,
      )
      .action(async (ids: string[], options: ChangeOptions, command: Command) => {
        const { changeEntries } = await import('./change-entries.ts');
        await changeEntries(move, ids, options, command, terminal, events);
      });
  }
}
