import type { Command } from 'commander';
import { BackupRefused, checkBackup, makeBackup } from '../operations/backup/backup.ts';
import { counted } from '../runtime/amounts.ts';
import { assertNotMoved } from '../spool/move.ts';
import { configuration } from './configuration.ts';
import { checkStoredFiles } from './check-stored-files.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import { requireEmbeddedStore, withSpool } from './open-spool.ts';
import { type Progress, progressOf } from './progress.ts';
import { note, type Terminal } from './terminal.ts';

export interface BackupOptions {
  readonly check?: true;
  readonly json?: true;
}

/** `backup`: makes or checks a backup. */
export async function makeOrCheck(
  folder: string | undefined,
  { check: checks, json }: BackupOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  await interruptible(events, async (signal) => {
    if (folder === undefined && checks) await checkStoredFiles(command, terminal, { json, signal });
    else if (folder === undefined) throw new UsageError('name a new folder for the backup');
    else if (checks) await check(folder, terminal, json);
    else await make(folder, terminal, command, { ...(json && { json }), signal });
  });
}

async function make(
  target: string,
  terminal: Terminal,
  command: Command,
  { json, signal }: { json?: true; signal: AbortSignal },
): Promise<void> {
  const { config } = configuration(command, terminal);
  requireEmbeddedStore(
    config,
    'back up the database with pg_dump, or with pgBackRest for a backup to any point in time, and copy ' +
      'keys.json from the data folder; check what you restored with: sluice backup --check (docs/scaling.md)',
  );
  const { dataDir } = config;
  assertNotMoved(dataDir);
  const bar: Partial<Progress> = {};
  try {
    const made = await makeBackup({
      dataDir,
      target,
      now: () => new Date(),
      signal,
      onProgress: (done, total) => {
        if (bar.at === undefined) {
          Object.assign(bar, progressOf(terminal, { name: 'Files', total, unit: 'entries' }));
        }
        bar.at?.(done);
      },
    });
    await withSpool(command, terminal, ({ audit }) => audit('backup', target, 'made'));
    const { entries, files, bytes, gone } = made;
    terminal.out(
      json
        ? document({ folder: target, ...made })
        : `${target}: ${counted(entries, 'entry', 'entries')}, ${counted(files, 'file')}, ${(bytes / 1e6).toFixed(1)} MB` +
            `${gone.length === 0 ? '' : ` (${gone.length} files were removed during the backup)`}\n`,
    );
    if (json) return;
    note(terminal, "It contains keys and customers' messages: protect it like the data folder.\n");
  } catch (error) {
    if (error instanceof BackupRefused) throw new CommandFailed(error.message, { cause: error });
    throw error;
  } finally {
    bar.end?.();
  }
}

async function check(folder: string, terminal: Terminal, json: true | undefined): Promise<void> {
  const problems = await checkBackup(folder);
  if (json) terminal.out(document({ folder, ok: problems.length === 0, problems }));
  else terminal.out(problems.length === 0 ? `${folder}: complete\n` : `${problems.join('\n')}\n`);
  if (problems.length > 0) throw new CommandFailed(`${folder} is not complete`);
}
