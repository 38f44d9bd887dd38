import { type Command, Option } from 'commander';
import type { ShopsOptions } from './list-shops.ts';
import type { ProcessEvents } from './process-end.ts';
import { wholeNumber } from './platform/values.ts';
import type { Terminal } from './terminal.ts';
import { moment } from './time-argument.ts';
import type { AuditOptions } from './list-audit.ts';
import type { ExplainOptions } from './explain-email.ts';
import type { IngestOptions } from './ingest-files.ts';
import type { BackupOptions } from './backup-folder.ts';
import type { EraseOptions } from './erase-stored.ts';
import type { ExportPersonOptions } from './export-person.ts';
import type { MigrateOptions } from './migrate-store.ts';
import type { ReloadOptions } from './reload-gateway.ts';
import type { StatusOptions } from './show-status.ts';

export function registerStatus(parent: Command, terminal: Terminal): void {
  parent
    .command('status')
    .description('shows whether the gateway runs, what waits, and what is wrong, and why')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice status\n' +
        '\nExit codes:\n  0  the gateway runs and takes messages, and no shop is stopped\n  1  otherwise\n  2  the command line or the configuration is invalid',
    )
    .action(async (options: StatusOptions, command: Command) => {
      const { showStatus } = await import('./show-status.ts');
      await showStatus(options, command, terminal);
    });
}

export function registerReload(parent: Command, terminal: Terminal): void {
  parent
    .command('reload')
    .description('has the running gateway read its configuration again, and prints the result')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nThe configuration of this command line is checked first; the gateway reads the one that it was\nstarted with. It changes nothing if there is a mistake.\n\nExample:\n  $ sluice reload --config sluice.yaml',
    )
    .action(async (options: ReloadOptions, command: Command) => {
      const { reloadGateway } = await import('./reload-gateway.ts');
      await reloadGateway(options, command, terminal);
    });
}

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
      '\nThe running gateway submits it. If deliveries succeed, all messages that wait for their next\nattempt are sent now.\n' +
        '\nExample:\n  $ sluice shops try acme',
    )
    .action(async (name: string, _options: ShopsOptions, command: Command) => {
      const { tryShopNow } = await import('./try-shop-now.ts');
      // The parent command has the same option and would otherwise consume it.
      await tryShopNow(name, command.optsWithGlobals<ShopsOptions>(), command, terminal, events);
    });
}

export function registerAudit(parent: Command, terminal: Terminal): void {
  parent
    .command('audit')
    .description('lists the actions of operators on console and command line, newest first')
    .option('--text <words>', 'only lines with this in operator, address, target or outcome')
    .option('--action <name...>', 'only these actions: retry, login_failed ...')
    .option('--since <when>', 'since: 2h, 7d ago, or a time (UTC)', moment)
    .option('--until <when>', 'before: 2h, 7d ago, or a time (UTC)', moment)
    .option('--before <no>', 'only lines older than this number: the next page', wholeNumber())
    .option('--limit <count>', 'the number of lines, up to 1000', wholeNumber(1000), 50)
    .addOption(new Option('--json', 'for programs: a JSON array').conflicts('jsonl'))
    .option('--jsonl', 'for programs: one JSON object per line')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice audit --limit 20\n  $ sluice audit --action login_failed --since 7d',
    )
    .action(async (options: AuditOptions, command: Command) => {
      const { listAudit } = await import('./list-audit.ts');
      await listAudit(options, command, terminal);
    });
}

export function registerIngest(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('ingest')
    .description('ingests messages from files: .eml, mbox, Maildir, or a JSON lines export')
    .argument('<file...>', 'files and folders; - for standard input')
    .option('--to <address...>', 'the recipients, instead of those in the messages')
    .option('--from <address>', 'the envelope sender; empty for bounces')
    .option(
      '--shop <name>',
      'the shop; its first inbox is used if a message names none of its addresses',
    )
    .option('--dry-run', 'shows the result without changing anything')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice ingest archive.mbox ~/Maildir --shop acme --dry-run\n' +
        '  $ sluice ingest dead.jsonl\n' +
        '  $ zcat archive.mbox.gz | sluice ingest -\n\n' +
        'Recipients are taken from Delivered-To, X-Original-To, Envelope-To or X-Forwarded-To, otherwise\n' +
        'from To and Cc. A message keeps the time at which it first arrived. The command works with or\n' +
        'without a running gateway, which delivers the messages at once. After an interruption, run it\n' +
        'again: messages are recognized by their content and never create a second entry.',
    )
    .action(async (files: string[], options: IngestOptions, command: Command) => {
      const { ingestFiles } = await import('./ingest-files.ts');
      await ingestFiles(files, options, command, terminal, events);
    });
}

export function registerExplain(parent: Command, terminal: Terminal): void {
  parent
    .command('explain')
    .description('shows how an email is read: its parts, sender, quotes, and the resulting request')
    .argument('<file>', 'a message as it came (.eml); - for standard input')
    .option('--to <address>', 'the recipient, instead of those in the message')
    .option('--from <address>', 'the envelope sender; empty for bounces')
    .option('--shop <name>', 'the shop, if the message names none of its addresses')
    .option('--known', 'reads it as an answer to a message of the platform: quotes are cut')
    .option(
      '--check-sender [ip]',
      "checks DKIM, ARC and DMARC, which asks DNS; with the address of the sender's server, SPF too",
    )
    .option('--json', 'for programs: one JSON object')
    .option(
      '--fixture <folder>',
      'writes a copy for a test instead: words, names and files are replaced; read it before you share it',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ sluice explain complaint.eml\n' +
        '  $ sluice explain complaint.eml --known --json\n' +
        '  $ sluice queue show 0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11 --raw | sluice explain -\n\n' +
        'Nothing is stored or submitted. The loop limits, which count earlier messages, are left out.',
    )
    .action(async (file: string, options: ExplainOptions, command: Command) => {
      const { explainFile } = await import('./explain-email.ts');
      await explainFile(file, options, command, terminal);
    });
}

export function registerBackup(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('backup')
    .description('copies the data folder of a running gateway, or checks such a copy')
    .argument('[folder]', 'a new folder, outside of the data folder')
    .addOption(
      new Option(
        '--check',
        'checks whether a gateway can use this backup; without a folder, whether a restored PostgreSQL database has all its files',
      ),
    )
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ sluice backup /backup/sluice-monday\n  $ sluice backup /backup/sluice-monday --check\n' +
        '  $ sluice backup --check\n\n' +
        'To restore a backup, stop the gateway and copy the folder to dataDir.',
    )
    .action(async (folder: string | undefined, options: BackupOptions, command: Command) => {
      const { makeOrCheck } = await import('./backup-folder.ts');
      await makeOrCheck(folder, options, command, terminal, events);
    });
}

export function registerMigrate(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('migrate')
    .description('moves the data folder to a PostgreSQL database, or a database to a data folder')
    .requiredOption(
      '--to <store>',
      'a postgres:// URL; or a new folder, if spool.url is a database',
    )
    .option('--blobs <where>', 'postgres (the default), or an s3:// URL as in spool.blobs')
    .option('--dry-run', 'shows what would be copied')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ sluice migrate --to postgres://sluice@db.internal/sluice --dry-run\n' +
        '  $ PGPASSWORD=... sluice migrate --to postgres://sluice@db.internal/sluice\n' +
        '  $ sluice migrate --to /var/lib/sluice-back\n\n' +
        'Stop all gateways first. The command copies everything that is stored, compares the two places, and\n' +
        'marks the old one so that no gateway opens it. After an interruption, run it again: it goes on where\n' +
        'it stopped.',
    )
    .action(async (options: MigrateOptions, command: Command) => {
      const { migrateStore } = await import('./migrate-store.ts');
      await migrateStore(options, command, terminal, events);
    });
}

const HELP = `
The address is an email address, a telephone number in any common form, or the id or
subject of a chat visitor. With - it is read from standard input, and is not visible in the
process list. The command shows what is stored, asks for confirmation, and
erases it: entries with their raw messages and files, timelines, chat histories, stored
conversations, and on the embedded platform the contact, tickets, messages, files and
replies. A running gateway continues. Other people's messages that mention the person are
listed and kept.

Keyed hashes remain, so that repeated messages are still recognized and an opt-out of
texts stays in force. Not erased: data on a remote platform, backups, and other people's
mailboxes. The command can be repeated at any time, also after an interruption.

Bytes of deleted rows are removed by rewriting the databases. One of more than 256 MiB is
rewritten only without a gateway: when the next one starts, or by --finish.

Examples:
  $ sluice erase --address ann@example.com --dry-run
  $ sluice erase --address "+1 (415) 555-2671" --shop acme
  $ sluice erase --address ann@example.com --yes --json
  $ sluice erase --address - --yes < address.txt
  $ sluice erase --finish`;

/** `erase`: removes what is stored about a person. */
export function registerErase(program: Command, terminal: Terminal, events: ProcessEvents): void {
  program
    .command('erase')
    .description('removes what is stored about a person')
    .option('--address <address>', 'email address, number, or chat visitor; - reads standard input')
    .addOption(
      new Option('--finish', 'only rewrites databases that an earlier run has postponed').conflicts(
        ['shop', 'dryRun'],
      ),
    )
    .option('--shop <name>', 'only data of this shop')
    .option('--dry-run', 'shows what would be erased')
    .option('--yes', 'skips the confirmation')
    .option('--json', 'for programs: one JSON object')
    .addHelpText('after', HELP)
    .action(async (options: EraseOptions, command: Command) => {
      const { eraseStored } = await import('./erase-stored.ts');
      await eraseStored(options, command, terminal, events);
    });
}

/** `export`: writes what is stored about a person into an archive. */
export function registerExport(program: Command, terminal: Terminal, events: ProcessEvents): void {
  program
    .command('export')
    .description('writes what is stored about a person into a ZIP file')
    .requiredOption(
      '--address <address>',
      'email address, number, or chat visitor; - reads standard input',
    )
    .option('--shop <name>', 'only data of this shop')
    .option('-o, --output <file>', 'a new file; by default sluice-export-<time>.zip in this folder')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nThe archive has what `sluice erase` with the same address would remove: messages as they came,\n' +
        'their files and timelines, chats, and the tickets and replies of the embedded platform, with a\n' +
        'README.txt. Messages of other people that mention the person are listed and left out. The\n' +
        'command works with or without a running gateway, and changes nothing.\n' +
        '\nExamples:\n  $ sluice export --address ann@example.com\n' +
        '  $ sluice export --address "+1 (415) 555-2671" --shop acme --output ann.zip --json\n' +
        '  $ sluice export --address - < address.txt\n' +
        '\nExit codes:\n  0  the archive is written\n  1  nothing is stored about the person, or the archive could not be written\n' +
        '  2  the command line is invalid, or the file exists already',
    )
    .action(async (options: ExportPersonOptions, command: Command) => {
      const { exportPerson } = await import('./export-person.ts');
      await exportPerson(options, command, terminal, events);
    });
}
