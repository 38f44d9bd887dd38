import { randomBytes } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { durableFiles } from '../runtime/durable-files.ts';
import { isSystemError } from '../runtime/error-code.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';

/** The destination of a long result. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * Writes a file that has its name only when it is complete, readable by its owner only.
 * @throws {UsageError} the name is that of a folder, a pipe or a device
 * @throws {CommandFailed} the file cannot be written
 */
export async function withFile<T>(file: string, work: (output: Output) => Promise<T>): Promise<T> {
  // Renaming would replace /dev/null with a file.
  const there = await stat(file).catch(() => undefined);
  if (there !== undefined && !there.isFile()) {
    throw new UsageError(`${file} is not a file: without --output the result is printed`);
  }
  const temporary = `${file}.${randomBytes(6).toString('hex')}.part`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      const result = await work({
        write: async (bytes) => {
          for (let at = 0; at < bytes.length;) {
            at += (await handle.write(bytes, at)).bytesWritten;
          }
        },
      });
      await durableFiles.syncNew(handle);
      await handle.close();
      await durableFiles.rename(temporary, file);
      return result;
    } finally {
      await handle.close().catch(() => undefined);
    }
  } catch (error) {
    await rm(temporary, { force: true });
    throw isSystemError(error) ? await explained(error, file) : error;
  }
}

async function explained(error: NodeJS.ErrnoException, file: string): Promise<CommandFailed> {
  const folder = await stat(dirname(file)).catch(() => undefined);
  const why =
    folder?.isDirectory() === true ? (error.code ?? error.message) : 'the folder does not exist';
  return new CommandFailed(`${file} cannot be written: ${why}`, { cause: error });
}
