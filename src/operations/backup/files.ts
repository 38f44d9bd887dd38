import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../runtime/error-code.ts';
import { durableFiles, isDiskFull } from '../../runtime/durable-files.ts';
import { SharedLock } from '../../spool/locks.ts';

/**
 * The SQLite databases of a data folder. They are not copied as files, because another process may
 * write them, but read in one transaction (`database-copy.ts`).
 */
export const DATABASES = ['spool.db', 'platform/platform.sqlite'] as const;

/**
 * What a backup leaves out: the databases' own files, files that are recreated (search index,
 * ballast), files of a running process (locks), incomplete files (tmp), and blobs, which are copied
 * separately if the copied database names them.
 */
const LEFT_OUT =
  /^(?:blobs|tmp|platform\/media\/tmp)\/|(?:\.db|\.sqlite)(?:-wal|-shm|-journal)?$|\.lock(?:-journal)?$|^spool\.pid$|^ballast$|\.(?:tmp|part)$/;

/** The files of a data folder that are copied unchanged, as paths relative to it. */
export async function plainFiles(dataDir: string): Promise<string[]> {
  const all = await readdir(dataDir, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((path) => !LEFT_OUT.test(path))
    .sort();
}

/**
 * Copies one file durably, readable by its owner only. Shares the blocks if the file system
 * supports it.
 * @returns its size in bytes; undefined if it no longer exists
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

/** A note in the data folder with the path of an unfinished backup. `LEFT_OUT` matches its name. */
const NOTED = /^backup-([0-9a-f-]{36})\.part$/;

/**
 * Creates a temporary folder beside the target for `work`, which renames it to the target or
 * throws; then it is removed. Folders of killed processes are removed first, by the paths noted in
 * the data folder; their random names prevent mistakes.
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

/** On a full disk, a backup is made without the note. */
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
    // A folder that cannot be removed stays noted. It does not prevent a backup.
    if (id !== undefined) await removeNoted(join(dataDir, name), id).catch(() => undefined);
  }
}

async function removeNoted(note: string, id: string): Promise<void> {
  const partial = await readFile(note, 'utf8');
  // A process that was killed while it wrote the note had not created the folder yet.
  if (isAbsolute(partial) && basename(partial).endsWith(`-${id}`)) {
    // The disk may be mounted again later.
    if (!existsSync(dirname(partial))) return;
    await rm(partial, { recursive: true, force: true });
  }
  await rm(note, { force: true });
}
