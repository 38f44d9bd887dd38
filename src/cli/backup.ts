import { Option, type Command } from 'commander';
import type { BackupOptions } from './backup-folder.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

export function registerBackup(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('backup')
    .description('copies the data folder beside a running gateway, or checks such a copy')
    .argument('<folder>', 'a new folder, outside of the data folder')
    .addOption(new Option('--check', 'whether a gateway can be started on this backup'))
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ sluice backup /backup/sluice-monday\n  $ sluice backup /backup/sluice-monday --check\n\n' +
        'To restore one: stop the gateway, and copy the folder to where dataDir was.',
    )
    .action(async (folder: string, options: BackupOptions, command: Command) => {
      const { makeOrCheck } = await import('./backup-folder.ts');
      await makeOrCheck(folder, options, command, terminal, events);
    });
}
