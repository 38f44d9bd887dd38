import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { pipeline, Transform } from 'node:stream';
import libmime from 'libmime';
import type { PlatformClient } from '../../platform-api/client.ts';
import { MediaSourceError } from '../../platform-api/errors.ts';
import type { UploadedMedia } from '../../platform-api/resources.ts';
import type { MediaPermission } from '../../platform-api/schemas.ts';
import { CommandFailed, UsageError } from '../exit-codes.ts';
import { printable, type Terminal } from '../terminal.ts';
import { oneLine } from '../cell.ts';

const READ_BYTES = 1024 * 1024;

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
    const size = await sizeOf(path);
    files.push({ path, name: basename(path), size });
  }
  return files;
}

async function sizeOf(path: string): Promise<number> {
  const shown = printable(path);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new UsageError(`${shown} is not a file`);
    await access(path, constants.R_OK);
    return found.size;
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${shown} cannot be read`, { cause });
  }
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
  const progress = new ProgressBar(terminal, file);
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
    progress.clear();
  }
}

function meter(progress: ProgressBar): Transform {
  return new Transform({
    highWaterMark: READ_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      progress.advance(chunk.length);
      done(null, chunk);
    },
  });
}

const BAR_CHARS = 24;
const NAME_CHARS = 24;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** The progress of an upload, on one line of the terminal. Draws nothing on a pipe. */
class ProgressBar {
  readonly #terminal: Terminal;
  readonly #name: string;
  readonly #size: number;
  readonly #clock: () => number;
  readonly #startedAt: number;
  #done = 0;
  #drawnAt = -Infinity;

  /** @param clock monotonic milliseconds */
  constructor(
    terminal: Terminal,
    file: { readonly name: string; readonly size: number },
    clock: () => number = () => performance.now(),
  ) {
    this.#terminal = terminal;
    this.#name = file.name;
    this.#size = file.size;
    this.#clock = clock;
    this.#startedAt = clock();
  }

  /** This many more bytes have been read. */
  advance(bytes: number): void {
    this.#done += bytes;
    const now = this.#clock();
    if (!this.#terminal.canDrawOver || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    const seconds = (now - this.#startedAt) / 1000;
    this.#terminal.err(`${ERASE_LINE}${bar(this.#name, this.#done, this.#size, seconds)}`);
  }

  /** Removes the line. */
  clear(): void {
    if (this.#drawnAt !== -Infinity) this.#terminal.err(ERASE_LINE);
  }
}

/** `lamp.jpg  [############------------]  50 %  15.0 of 30.0 MB  12.5 MB/s` */
export function bar(name: string, done: number, size: number, seconds: number): string {
  const share = size === 0 ? 1 : Math.min(1, done / size);
  const filled = Math.floor(share * BAR_CHARS);
  const drawn = '#'.repeat(filled) + '-'.repeat(BAR_CHARS - filled);
  const rate = seconds > 0 ? `  ${megabytes(done / seconds)} MB/s` : '';
  const shown = Array.from(oneLine(name)).slice(0, NAME_CHARS).join('');
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${shown}  [${drawn}] ${percent} %  ${megabytes(done)} of ${megabytes(size)} MB${rate}`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
