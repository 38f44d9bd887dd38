import { Option, type Command } from 'commander';
import type { ShowOptions } from './show-entry.ts';
import type { Terminal } from './terminal.ts';

export function registerQueueShow(parent: Command, terminal: Terminal): void {
  parent
    .command('show')
    .description('prints an entry with its timeline and what was submitted')
    .argument('<id>', 'the id that log, list and console show')
    .addOption(new Option('--json', 'for programs: one JSON object').conflicts(['raw', 'trimmed']))
    .addOption(
      new Option('--payload', 'the create-message request alone, as JSON').conflicts([
        'raw',
        'trimmed',
      ]),
    )
    .addOption(
      new Option('--trimmed', 'what was taken away as quote or signature').conflicts('raw'),
    )
    .option('--raw', 'what arrived, byte for byte: for a file or a pipe')
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
