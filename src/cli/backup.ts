import { Option, type Command } from 'commander';
import { checkBackup } from '../backup/check-backup.ts';
import { BackupRefused, makeBackup } from '../backup/make-backup.ts';
import { configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { withSpool } from './open-spool.ts';
import { progressOf } from './progress.ts';
import type { Terminal } from './terminal.ts';

export function registerBackup(parent: Command, terminal: Terminal): void {
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
    .action(async (folder: string, options: { check?: true; json?: true }, command: Command) => {
      if (options.check) await check(folder, terminal, options.json);
      else await make(folder, terminal, command, options.json);
    });
}

async function make(
  target: string,
  terminal: Terminal,
  command: Command,
  json: true | undefined,
): Promise<void> {
  const { dataDir } = configuration(command, terminal).config;
  const bar: { at?: (done: number, note: string) => void; end?: () => void } = {};
  try {
    const note = await makeBackup({
      dataDir,
      target,
      now: () => new Date(),
      onProgress: (done, total) => {
        if (bar.at === undefined) {
          Object.assign(bar, progressOf(terminal, { name: 'Files', total, unit: 'entries' }));
        }
        bar.at?.(done, `${done} of ${total}`);
      },
    });
    await withSpool(command, terminal, ({ audit }) => audit('backup', target, 'made'));
    const { entries, files, bytes, gone } = note;
    terminal.out(
      json
        ? `${JSON.stringify({ folder: target, ...note }, null, 2)}\n`
        : `${target}: ${entries} entries, ${files} files, ${(bytes / 1e6).toFixed(1)} MB` +
            `${gone.length === 0 ? '' : ` (${gone.length} files were removed meanwhile)`}\n` +
            'It holds keys and what customers wrote: keep it as private as the data folder.\n',
    );
  } catch (error) {
    if (error instanceof BackupRefused) throw new CommandFailed(error.message, { cause: error });
    throw error;
  } finally {
    bar.end?.();
  }
}

async function check(folder: string, terminal: Terminal, json: true | undefined): Promise<void> {
  const problems = await checkBackup(folder);
  if (json)
    terminal.out(`${JSON.stringify({ folder, ok: problems.length === 0, problems }, null, 2)}\n`);
  else terminal.out(problems.length === 0 ? `${folder}: whole\n` : `${problems.join('\n')}\n`);
  if (problems.length > 0) throw new CommandFailed(`${folder} is not whole`);
}
