import { closeSync, constants, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Trouble } from '../domain/trouble.ts';
import { accessTrouble, diskFull, systemTrouble, type TroubleContext } from './system-trouble.ts';

/** Less than any database can work with. */
const LEAST_FREE_BYTES = 64 * 1024;
const READ_AND_WRITE = constants.R_OK | constants.W_OK;

/**
 * Why a SQLite database cannot be opened, in words. SQLite itself tells neither whose a file is nor
 * that a limit of the process is reached, so the files are looked at again. Undefined: no reason is
 * found outside the program.
 */
export function databaseTrouble(
  file: string,
  error: unknown,
  context: TroubleContext = {},
): Trouble | undefined {
  const code = codeOf(error);
  if (!code.startsWith('SQLITE_')) return systemTrouble(error, context);
  if (code === 'SQLITE_NOTADB') return unusableFile(`${file} is not a SQLite database`);
  if (code.startsWith('SQLITE_CORRUPT')) return unusableFile(`${file} is damaged`);
  if (code === 'SQLITE_FULL') return diskFull(dirname(file));
  if (!/^SQLITE_(?:CANTOPEN|READONLY|PERM|IOERR)/.test(code)) return undefined;
  return (
    filesTrouble(file, context) ??
    descriptorTrouble(file) ??
    (freeBytes(file) < LEAST_FREE_BYTES ? diskFull(dirname(file)) : undefined)
  );
}

const unusableFile = (found: string): Trouble => ({
  found,
  todo: 'Restore it from a backup, or move it away to start with an empty one',
  mayPass: false,
});

/** SQLite makes files beside the database: the folder has to be writable too. */
function filesTrouble(file: string, context: TroubleContext): Trouble | undefined {
  const folder = accessTrouble(`${dirname(file)}/.`, READ_AND_WRITE | constants.X_OK, context);
  if (folder !== undefined) return folder;
  for (const suffix of ['', '-wal', '-shm']) {
    const found = accessTrouble(`${file}${suffix}`, READ_AND_WRITE, context);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** By opening the folder: to close a file of the database would let go of its locks. */
function descriptorTrouble(file: string): Trouble | undefined {
  try {
    closeSync(openSync(dirname(file), 'r'));
    return undefined;
  } catch (error) {
    return systemTrouble(error);
  }
}

function freeBytes(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

/** By the property: the driver's error class is another one in each context that loads it. */
function codeOf(error: unknown): string {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : '';
}
