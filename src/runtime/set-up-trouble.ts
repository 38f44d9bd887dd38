import { closeSync, constants, openSync, readFileSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Trouble } from '../domain/trouble.ts';
import { spaceIn } from './disk-space.ts';
import { codeOf } from './error-code.ts';
import {
  accessTrouble,
  diskFull,
  octal,
  outOfDescriptors,
  systemTrouble,
  type TroubleContext,
} from './system-trouble.ts';

/** Less free space than any database can work with. */
const LEAST_FREE_BYTES = 64 * 1024;
const READ_AND_WRITE = constants.R_OK | constants.W_OK;

/**
 * Explains why a SQLite database cannot be opened. SQLite reports neither the owner of a file nor
 * an exhausted limit of the process, so the files are examined again. Undefined if no reason is
 * found outside the program.
 */
export function databaseTrouble(
  file: string,
  error: unknown,
  context: TroubleContext = {},
): Trouble | undefined {
  const code = codeOf(error);
  if (isDriverMissing(error)) return driverMissing;
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

/**
 * The native part of the driver was compiled for another Node or C library, or was never built: npm ran without
 * scripts, or neither a prebuilt file nor a compiler was there. The package `bindings` reports the latter with the
 * list of places that it looked in.
 */
const isDriverMissing = (error: unknown): boolean =>
  codeOf(error) === 'ERR_DLOPEN_FAILED' || (error instanceof Error && 'tries' in error);

const driverMissing: Trouble = {
  found: `the database driver (better-sqlite3) is not built for this Node, ${process.versions.node}`,
  todo:
    'In the folder that Sluice is installed in, run: npm rebuild better-sqlite3. If it can download no ' +
    'prebuilt file, it needs Python 3, make and a C++ compiler',
  mayPass: false,
};

const unusableFile = (found: string): Trouble => ({
  found,
  todo: 'Restore it from a backup, or move it away to start with an empty one',
  mayPass: false,
});

/** SQLite creates files beside the database, so the folder has to be writable too. */
function filesTrouble(file: string, context: TroubleContext): Trouble | undefined {
  const folder = accessTrouble(`${dirname(file)}/.`, READ_AND_WRITE | constants.X_OK, context);
  if (folder !== undefined) return folder;
  for (const suffix of ['', '-wal', '-shm']) {
    const found = accessTrouble(`${file}${suffix}`, READ_AND_WRITE, context);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tested by opening the folder: opening and closing a database file would release its locks. */
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
    return spaceIn(statfsSync(dirname(file)))?.freeBytes ?? Infinity;
  } catch {
    return Infinity;
  }
}

/**
 * How many files and sockets a process may have open: the soft limit of `ulimit -n`, which Node
 * raises to the hard limit when it starts. Undefined if it is unlimited or unknown.
 * @param pid another process; this one by default
 */
export function descriptorLimit(pid = 'self'): number | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/**
 * Undefined if the limit is sufficient or unknown.
 * @param why so many are needed: `to load itself`
 */
export function descriptorShortage(
  limit: number | undefined,
  needed: number,
  why: string,
): Trouble | undefined {
  if (limit === undefined || limit >= needed) return undefined;
  return {
    ...outOfDescriptors('EMFILE'),
    found: `the gateway may have ${limit} files and sockets open, and needs up to ${needed} ${why}`,
  };
}

/** The permission bits of the group and of others. */
const OTHERS = 0o077;

export const isOpenToOthers = (mode: number): boolean => (mode & OTHERS) !== 0;

/** A data folder contains keys and customers' messages. Undefined if only its owner has access. */
export function openFolderTrouble(dir: string, mode: number): Trouble | undefined {
  if (!isOpenToOthers(mode)) return undefined;
  return {
    found: `other users have access to it (mode ${octal(mode)})`,
    todo: `chmod 700 ${dir}`,
    mayPass: false,
  };
}
