import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { durableFiles } from '../../runtime/durable-files.ts';

/**
 * The SQLite databases of a data folder: never copied as files while somebody writes, but read in
 * one transaction (`database-copy.ts`).
 */
export const DATABASES = ['spool.db', 'platform/platform.sqlite'] as const;

/**
 * What a backup leaves out: the databases' own files, what is made again (search index, ballast),
 * what belongs to a running process (locks), what is half written (tmp), and blobs, of which those
 * are copied that the copied database names.
 */
const LEFT_OUT =
  /^(?:blobs|tmp|platform\/media\/tmp)\/|(?:\.db|\.sqlite)(?:-wal|-shm|-journal)?$|\.lock(?:-journal)?$|^spool\.pid$|^ballast$|\.(?:tmp|part)$/;

/** Every file of a data folder that is copied as it is, as paths relative to it. */
export async function plainFiles(dataDir: string): Promise<string[]> {
  const all = await readdir(dataDir, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((path) => !LEFT_OUT.test(path))
    .sort();
}

/**
 * Copies one file durably, readable by its owner only; shares the blocks where the file system can.
 * @returns its size in bytes; undefined when it is gone meanwhile
 */
export async function copyDurably(from: string, to: string): Promise<number | undefined> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  await chmod(to, 0o600);
  return durableFiles.syncPath(to);
}

const isGone = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
