import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { SharedLock } from '../../spool/shared-lock.ts';
import { isDiskFull } from '../../runtime/durable-files.ts';

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
