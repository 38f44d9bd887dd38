import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { counted } from '../runtime/amounts.ts';
import { foundJson, othersText, ownLines, summary } from './erase-report.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import {
  type FoundPerson,
  type PersonOptions,
  withPerson,
  withRemotePlatform,
} from './find-person.ts';
import { document } from './json.ts';
import { type OpenSpool, withSpool } from './open-spool.ts';
import { withFile } from './output-file.ts';
import { type ArchiveContents, writePerson } from './person-archive.ts';
import { isNothing, isNothingOf } from './person-eraser.ts';
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
    withPerson(open, options, { terminal, events }, async (person) => {
      const remote = withRemotePlatform(open.config);
      if (!hasData(person)) {
        if (options.json) terminal.out(document(result(open, person, { remote })));
        throw new CommandFailed(
          'nothing is stored about this person, so no archive is written: check the spelling, and search ' +
            'for other addresses of theirs',
        );
      }
      if (options.json !== true)
        terminal.out(`${ownLines(person.found, open.shopName).join('\n')}\n`);
      const contents = await write(open, person, output, { terminal, events });
      if (options.json) {
        const bytes = (await stat(output)).size;
        terminal.out(document(result(open, person, { output, bytes, contents, remote })));
        return;
      }
      terminal.out(othersText(person.found, open.shopName));
      note(terminal, `${counted(contents.files, 'file')} written to ${output}\n`);
      if (contents.missing.length > 0) {
        terminal.err(`Not stored any more: ${contents.missing.join(', ')}\n`);
      }
      if (remote.length > 0) {
        terminal.err(
          `Not searched: the platform of ${remote.join(', ')}. Export the person there too.\n`,
        );
      }
    }),
  );
}

/** Notes on other people's messages are not the person's data, though erasing redacts them. */
const hasData = ({ found: { traces, platform, names } }: FoundPerson): boolean =>
  names.length > 0 ||
  !isNothing({ ...traces, notes: [] }) ||
  (platform !== undefined && !isNothingOf(platform));

async function write(
  open: OpenSpool,
  person: FoundPerson,
  output: string,
  { terminal, events }: { terminal: Terminal; events: ProcessEvents },
): Promise<ArchiveContents> {
  const line = statusLine(terminal, `writing ${output}`);
  let outcome = 'not completed';
  try {
    const contents = await interruptible(events, (signal) =>
      withFile(output, (file) =>
        writeZip(file, (archive) => writePerson(open, person, archive, signal)),
      ),
    );
    outcome = `done: ${summary(person.found)}`;
    return contents;
  } finally {
    line.end();
    await open.audit('export', await person.target(), outcome);
  }
}

/** For programs. The address itself is not repeated. */
function result(
  { shopName }: OpenSpool,
  { found }: FoundPerson,
  written: {
    readonly output?: string;
    readonly bytes?: number;
    readonly contents?: ArchiveContents;
    readonly remote: readonly string[];
  },
): object {
  const { output, bytes, contents, remote } = written;
  return { output, bytes, ...contents, ...foundJson(found, shopName), notSearched: remote };
}

/** `sluice-export-20260421-093000.zip`, in UTC: without the address, which a listing would show. */
function defaultName(now: Date): string {
  const [day = '', time = ''] = now
    .toISOString()
    .slice(0, 'YYYY-MM-DDThh:mm:ss'.length)
    .replace(/[-:]/g, '')
    .split('T');
  return `sluice-export-${day}-${time}.zip`;
}
