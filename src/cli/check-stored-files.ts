import { crc32 } from 'node:zlib';
import type { Command } from 'commander';
import type { BlobStore } from '../spool/blobs.ts';
import { SpoolUnavailable } from '../spool/errors.ts';
import type { NamedBlob } from '../spool/fleet.ts';
import { counted } from '../runtime/amounts.ts';
import { codeOf } from '../runtime/error-code.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { document } from './json.ts';
import { withSpool } from './open-spool.ts';
import { progressOf } from './progress.ts';
import type { Terminal } from './terminal.ts';

/**
 * `backup --check` of a shared store, after its database or its bucket was restored: reads every large
 * message and file that the database names. Backups of the two are never of the same moment.
 * @throws {UsageError} the store is the embedded one, whose backups are folders
 * @throws {CommandFailed} something is missing or damaged
 */
export async function checkStoredFiles(
  command: Command,
  terminal: Terminal,
  { json, signal }: { readonly json?: true | undefined; readonly signal: AbortSignal },
): Promise<void> {
  await withSpool(command, terminal, async ({ spool, fleet }) => {
    if (fleet === undefined) throw new UsageError('name the folder of the backup to check');
    const total = await fleet.countBlobs();
    const bar = progressOf(terminal, { name: 'Files', total, unit: 'entries' });
    const problems: string[] = [];
    let files = 0;
    try {
      let page = await fleet.blobsAfter(undefined);
      while (page.length > 0) {
        for (const named of page) {
          signal.throwIfAborted();
          const fault = await faultOf(named, spool.blobs);
          if (fault !== undefined) problems.push(`${ownerOf(named)}: ${fault}`);
          files += 1;
          bar.at(files);
        }
        page = await fleet.blobsAfter(page.at(-1)?.blob);
      }
    } finally {
      bar.end();
    }
    const ok = problems.length === 0;
    if (json) terminal.out(document({ ok, files, problems }));
    else terminal.out(ok ? `${counted(files, 'file')}: complete\n` : `${problems.join('\n')}\n`);
    if (!ok)
      throw new CommandFailed(`not complete: ${problems.length} of ${counted(files, 'file')}`);
  });
}

const ownerOf = ({ entry, blob }: NamedBlob): string =>
  entry === undefined ? `upload ${blob}` : `entry ${entry}`;

async function faultOf(
  { blob, size, checksum }: NamedBlob,
  blobs: Pick<BlobStore, 'read'>,
): Promise<string | undefined> {
  let [bytes, sum] = [0, 0];
  try {
    for await (const chunk of blobs.read(blob) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      sum = crc32(chunk, sum);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'its file is missing';
    if (error instanceof SpoolUnavailable) throw error;
    return 'its file cannot be read';
  }
  if (bytes !== size) return `its file has ${bytes} bytes instead of ${size}`;
  return checksum === undefined || checksum === sum ? undefined : 'its file is damaged';
}
