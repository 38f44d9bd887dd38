import type { Command } from 'commander';
import type { EraseOptions } from './erase-stored.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

const HELP = `
The address is an email address, a telephone number in any usual writing, or the id
or the subject of a chat visitor. Shows what is stored, asks, and erases it: entries with
their raw messages and files, timelines, chat histories, remembered conversations, and on
the embedded platform the contact, tickets, messages, files and replies. A running gateway
goes on meanwhile. Other people's messages that name the person are listed and stay.

A message that comes a second time is still known, and who has opted out of texts stays
so: by keyed hashes. Not reached: a platform elsewhere, backups, other people's mailboxes.
May be run again at any time, also after it was stopped in the middle.

Examples:
  $ sluice erase --address ann@example.com --dry-run
  $ sluice erase --address "+1 (415) 555-2671" --shop acme
  $ sluice erase --address ann@example.com --yes --json`;

/** `erase`: removes what is stored about a person. */
export function registerErase(program: Command, terminal: Terminal, events: ProcessEvents): void {
  program
    .command('erase')
    .description('removes what is stored about a person')
    .requiredOption('--address <address>', 'email address, number, or chat visitor')
    .option('--shop <name>', 'only of this shop')
    .option('--dry-run', 'shows what would be erased')
    .option('--yes', 'does not ask')
    .option('--json', 'for programs: one object')
    .addHelpText('after', HELP)
    .action(async (options: EraseOptions, command: Command) => {
      const { eraseStored } = await import('./erase-stored.ts');
      await eraseStored(options, command, terminal, events);
    });
}
