import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../runtime/error-code.ts';
import { durableFiles, isDiskFull } from '../../runtime/durable-files.ts';
import { SharedLock } from '../../spool/locks.ts';

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
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  await chmod(to, 0o600);
  return durableFiles.syncPath(to);
}

/** In the data folder: where a backup of it is being made. Their names end as those left out do. */
const NOTED = /^backup-([0-9a-f-]{36})\.part$/;

/**
 * Makes a folder beside the target for the time of `work`, which gives it the target's name or
 * throws; then it is removed. One that a killed process left, wherever it was, is removed first:
 * by the path that the data folder has noted, whose random name is nobody else's.
 */
export async function withPartialFolder<T>(
  dataDir: string,
  target: string,
  work: (partial: string) => Promise<T>,
): Promise<T> {
  const lock = new SharedLock(join(dataDir, 'backup.lock'));
  await lock.whileAlone(async (isAlone) => {
    if (isAlone) await removeLeftOvers(dataDir);
  });
  await lock.share();
  const id = randomUUID();
  const partial = join(dirname(target), `.${basename(target)}-${id}`);
  const note = join(dataDir, `backup-${id}.part`);
  try {
    await writeNote(note, partial);
    await mkdir(dirname(target), { recursive: true });
    await mkdir(partial, { mode: 0o700 });
    return await work(partial);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(note, { force: true });
    await lock.release();
  }
}

/** Without room for it a backup is wanted all the more. */
async function writeNote(note: string, partial: string): Promise<void> {
  try {
    await writeFile(note, partial, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

async function removeLeftOvers(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const [, id] = NOTED.exec(name) ?? [];
    // What cannot be removed now stays noted, and is no reason to go without a backup.
    if (id !== undefined) await removeNoted(join(dataDir, name), id).catch(() => undefined);
  }
}

async function removeNoted(note: string, id: string): Promise<void> {
  const partial = await readFile(note, 'utf8');
  // A process that was killed while it wrote the note has made no folder.
  if (isAbsolute(partial) && basename(partial).endsWith(`-${id}`)) {
    // A disk that is not there may come back.
    if (!existsSync(dirname(partial))) return;
    await rm(partial, { recursive: true, force: true });
  }
  await rm(note, { force: true });
}
