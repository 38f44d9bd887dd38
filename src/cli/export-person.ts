import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { counted } from '../runtime/amounts.ts';
import { foundJson, hasOwnData, othersText, ownLines, summary } from './erase-report.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import {
  type FoundPerson,
  type PersonOptions,
  withPerson,
  withRemotePlatform,
} from './find-person.ts';
import { document } from './json.ts';
import { withSpool } from './open-spool.ts';
import { withFile } from './output-file.ts';
import { type ArchiveContents, writePerson } from './person-archive.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { statusLine } from './progress.ts';
import { note, type Terminal } from './terminal.ts';
import { writeZip } from './zip-file.ts';

export interface ExportPersonOptions extends PersonOptions {
  readonly output?: string;
  readonly json?: true;
}

/** `export`: writes what is stored about a person into a new ZIP file. */
export async function exportPerson(
  options: ExportPersonOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const output = options.output ?? defaultName(new Date());
  if (existsSync(output)) {
    throw new UsageError(`${output} exists already: give a new file with --output`);
  }
  await withSpool(command, terminal, (open) =>
    withPerson({ open, terminal, events }, options, (person) =>
      exportFound(person, output, options.json === true),
    ),
  );
}

async function exportFound(person: FoundPerson, output: string, isJson: boolean): Promise<void> {
  const { open, terminal, found } = person;
  const remote = withRemotePlatform(open.config);
  /** For programs. The address itself is not repeated. */
  const report = (written: object) =>
    terminal.out(document({ ...written, ...foundJson(found, open.shopName), notSearched: remote }));
  if (!hasOwnData(found)) {
    if (isJson) report({});
    throw new CommandFailed(
      'nothing is stored about this person, so no archive is written: check the spelling, and search ' +
        'for other addresses of theirs',
    );
  }
  if (!isJson) terminal.out(`${ownLines(found, open.shopName).join('\n')}\n`);
  const { files, missing } = await write(person, output);
  if (isJson) {
    report({ output, bytes: (await stat(output)).size, files, missing });
    return;
  }
  terminal.out(othersText(found, open.shopName));
  note(terminal, `${counted(files, 'file')} written to ${output}\n`);
  if (missing.length > 0) terminal.err(`Not stored any more: ${missing.join(', ')}\n`);
  if (remote.length > 0) {
    terminal.err(
      `Not searched: the platform of ${remote.join(', ')}. Export the person there too.\n`,
    );
  }
}

async function write(person: FoundPerson, output: string): Promise<ArchiveContents> {
  const line = statusLine(person.terminal, `writing ${output}`);
  let outcome = 'not completed';
  try {
    const contents = await interruptible(person.events, (signal) =>
      withFile(output, (file) => writeZip(file, (archive) => writePerson(person, archive, signal))),
    );
    outcome = `done: ${summary(person.found)}`;
    return contents;
  } finally {
    line.end();
    await person.audit('export', outcome);
  }
}

/** `sluice-export-20260421-093000.zip`, in UTC: without the address, which a listing would show. */
function defaultName(now: Date): string {
  const time = now.toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
  return `sluice-export-${time.replace(/[-:]/g, '').replace('T', '-')}.zip`;
}
