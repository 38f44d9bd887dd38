import { access, constants, stat } from 'node:fs/promises';
import { whyUnreadable } from '../config/mistakes.ts';
import { UsageError } from './exit-codes.ts';
import { printable } from './terminal.ts';

/**
 * The bytes of a file that a command is to send.
 * @throws {UsageError} it is not a file, or is not readable
 */
export async function fileSize(path: string): Promise<number> {
  const shown = printable(path);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new UsageError(`${shown} is not a file`);
    await access(path, constants.R_OK);
    return found.size;
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${shown} cannot be read: ${whyUnreadable(cause)}`, { cause });
  }
}
