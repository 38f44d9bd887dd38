import { InvalidArgumentError, Option, type Command } from 'commander';
import type { AuditOptions } from './list-audit.ts';
import type { Terminal } from './terminal.ts';

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
