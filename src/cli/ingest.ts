import type { Command } from 'commander';
import type { IngestOptions } from './ingest-files.ts';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

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
