import { createReadStream } from 'node:fs';
import { basename, extname } from 'node:path';
import { pipeline, Transform } from 'node:stream';
import libmime from 'libmime';
import type { PlatformClient } from '../../platform-api/client.ts';
import { MediaSourceError } from '../../platform-api/errors.ts';
import type { UploadedMedia } from '../../platform-api/resources.ts';
import type { MediaPermission } from '../../platform-api/schemas.ts';
import { CommandFailed } from '../exit-codes.ts';
import { fileSize } from '../file-size.ts';
import { type Progress, progressOf } from '../progress.ts';
import { printable, type Terminal } from '../terminal.ts';
import { oneLine } from '../cell.ts';

const READ_BYTES = 1024 * 1024;
const NAME_CHARS = 24;

export interface LocalFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
}

/**
 * Checks all files before any is sent.
 * @throws {UsageError} one is not a file, or is not readable
 */
export async function localFiles(paths: readonly string[]): Promise<readonly LocalFile[]> {
  const files: LocalFile[] = [];
  for (const path of paths) {
    files.push({ path, name: basename(path), size: await fileSize(path) });
  }
  return files;
}

/**
 * Uploads a file while reading it from the disk, with a progress bar on a terminal.
 * @throws {PlatformError}
 * @throws {CommandFailed} the file could not be read completely, or changed meanwhile
 */
export async function upload(
  client: PlatformClient,
  file: LocalFile,
  permission: MediaPermission,
  terminal: Terminal,
): Promise<UploadedMedia> {
  const name = Array.from(oneLine(file.name)).slice(0, NAME_CHARS).join('');
  const progress = progressOf(terminal, { name, total: file.size, unit: 'bytes' });
  try {
    return await client.uploadMedia({
      name: file.name,
      type: libmime.detectMimeType(extname(file.name)),
      size: file.size,
      permission,
      stream: () => {
        const source = createReadStream(file.path, { highWaterMark: READ_BYTES });
        // The caller gets errors from the last stream.
        return pipeline(source, meter(progress), () => undefined);
      },
    });
  } catch (error) {
    if (!(error instanceof MediaSourceError)) throw error;
    const why = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    throw new CommandFailed(printable(`${file.path}${why}`), { cause: error });
  } finally {
    progress.end();
  }
}

function meter(progress: Progress): Transform {
  let done = 0;
  return new Transform({
    highWaterMark: READ_BYTES,
    transform(chunk: Buffer, _encoding, pass) {
      done += chunk.length;
      progress.at(done);
      pass(null, chunk);
    },
  });
}
