import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ShopsOptions } from './list-shops.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';
import type { AuditOptions } from './list-audit.ts';
import type { IngestOptions } from './ingest-files.ts';
import type { BackupOptions } from './backup-folder.ts';
import type { EraseOptions } from './erase-stored.ts';

export function registerShops(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  const shops = parent
    .command('shops')
    .description('lists whether the platform of each shop accepts messages, and why not')
    .option('--json', 'for programs: a JSON array')
    .addHelpText('after', '\nExample:\n  $ sluice shops\n  $ sluice shops try acme')
    .action(async (options: ShopsOptions, command: Command) => {
      const { listShops } = await import('./list-shops.ts');
      await listShops(options, command, terminal);
    });
  shops
    .command('try')
    .description('submits one waiting message of a shop now and prints the result')
    .argument('<shop>', 'its configured name, or its id')
    .option('--json', 'for programs: a JSON object')
    .addHelpText(
      'after',
      '\nThe running gateway does it. Where messages flow, all that wait for their next attempt are\nsent now.\n' +
        '\nExample:\n  $ sluice shops try acme',
    )
    .action(async (name: string, _options: ShopsOptions, command: Command) => {
      const { tryShopNow } = await import('./try-shop-now.ts');
      // The option is the parent's too, which would take it.
      await tryShopNow(name, command.optsWithGlobals<ShopsOptions>(), command, terminal, events);
    });
}

export function registerAudit(parent: Command, terminal: Terminal): void {
  parent
    .command('audit')
    .description('lists what operators did, by console and terminal, newest first')
    .option('--before <no>', 'only lines older than this number: the next page', count)
    .option('--limit <count>', 'at most so many, up to 1000', upTo1000, 50)
    .addOption(new Option('--json', 'for programs: a JSON array').conflicts('jsonl'))
    .option('--jsonl', 'for programs: a JSON object a line')
    .addHelpText('after', '\nExample:\n  $ sluice audit --limit 20')
    .action(async (options: AuditOptions, command: Command) => {
      const { listAudit } = await import('./list-audit.ts');
      await listAudit(options, command, terminal);
    });
}

function count(value: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new InvalidArgumentError('Expected a whole number.');
  return Number(value);
}

function upTo1000(value: string): number {
  const number = count(value);
  if (number > 1000) throw new InvalidArgumentError('Expected a whole number from 1 to 1000.');
  return number;
}

export function registerIngest(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('ingest')
    .description('takes messages in from files: .eml, mbox, Maildir, or a JSON lines export')
    .argument('<file...>', 'files and folders; - for standard input')
    .option('--to <address...>', 'for these inboxes, whatever the messages say')
    .option('--from <address>', "the envelope's sender; empty for bounces")
    .option('--shop <name>', 'for this shop; its first inbox where a message names none of its own')
    .option('--dry-run', 'tells what would come of it, and changes nothing')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice ingest archive.mbox ~/Maildir --shop acme --dry-run\n' +
        '  $ sluice ingest dead.jsonl\n' +
        '  $ zcat archive.mbox.gz | sluice ingest -\n\n' +
        'Recipients are taken from Delivered-To, X-Original-To, Envelope-To, X-Forwarded-To, else To\n' +
        'and Cc. A message keeps the time at which it first arrived. It works beside a running gateway,\n' +
        'which delivers at once, and without one. To go on after a break run it again: what is in\n' +
        'already is known by its content and makes no second entry.',
    )
    .action(async (files: string[], options: IngestOptions, command: Command) => {
      const { ingestFiles } = await import('./ingest-files.ts');
      await ingestFiles(files, options, command, terminal, events);
    });
}

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
