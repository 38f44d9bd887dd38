import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { durableFiles } from '../../runtime/durable-files.ts';
import type { NamedBlob } from '../../spool/fleet.ts';
import { contentsOf, copyDatabase, damageOf } from '../../spool/sqlite/database-copy.ts';
import { copyDurably, DATABASES, plainFiles, withPartialFolder } from './files.ts';

/** `backup.json`, beside the data. */
export interface BackupNote {
  /** When the database was read, ISO 8601. Later entries are not in the backup. */
  readonly at: string;
  /** The version of the spool's schema. */
  readonly schema: number;
  readonly entries: number;
  readonly files: number;
  readonly bytes: number;
  /** Files that the database names but that no longer existed, usually because they were swept. */
  readonly gone: readonly string[];
}

export const NOTE = 'backup.json';

/** The backup cannot be made. The message is shown to the user. */
export class BackupRefused extends Error {
  override name = 'BackupRefused';
}

export interface BackupOptions {
  readonly dataDir: string;
  /** The folder to create. It must not exist, or must be empty. */
  readonly target: string;
  readonly now: () => Date;
  /** Ends the backup between two files; the partial copy is removed. */
  readonly signal?: AbortSignal;
  /** Called after each file. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Copies a data folder, whether or not a gateway is running, to a folder that a gateway can use.
 * The database is copied first, in one transaction, then the files that it names, which never
 * change. The folder gets its final name when all of it is on the disk.
 * @throws {BackupRefused} the target cannot be used, or its disk has too little space
 * @throws the signal's reason when it is aborted
 */
export async function makeBackup(options: BackupOptions): Promise<BackupNote> {
  const dataDir = resolve(options.dataDir);
  const named = resolve(options.target);
  const target = existsSync(named) ? await realpath(named) : named;
  await assertUsable(dataDir, target);
  return withPartialFolder(dataDir, target, async (partial) => {
    const note = await fill(partial, dataDir, options);
    await durableFiles.syncFolder(partial);
    options.signal?.throwIfAborted();
    await rename(partial, target).catch((cause: unknown) => {
      // An empty folder is replaced, unless another backup has filled it meanwhile.
      throw existsSync(target)
        ? new BackupRefused(`${target} cannot be replaced`, { cause })
        : cause;
    });
    await durableFiles.syncFolder(dirname(target));
    return note;
  });
}

async function fill(partial: string, dataDir: string, options: BackupOptions): Promise<BackupNote> {
  const at = options.now();
  let bytes = 0;
  const databases = DATABASES.filter((file) => existsSync(join(dataDir, file)));
  for (const file of databases) {
    const copy = join(partial, file);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    copyDatabase(join(dataDir, file), copy);
    await chmod(copy, 0o600);
    bytes += await durableFiles.syncPath(copy);
    options.signal?.throwIfAborted();
  }
  const { schema, entries, blobs } = contentsOf(join(partial, DATABASES[0]));
  const plain = await plainFiles(dataDir);
  await assertRoom(partial, blobs);
  const paths = [...blobs.map(({ blob }) => join('blobs', blob)), ...plain];
  const gone: string[] = [];
  let files = databases.length;
  for (const [index, path] of paths.entries()) {
    const size = await copyDurably(join(dataDir, path), join(partial, path));
    if (size === undefined) {
      gone.push(path);
    } else {
      files += 1;
      bytes += size;
    }
    options.onProgress(index + 1, paths.length);
    options.signal?.throwIfAborted();
  }
  const note = { at: at.toISOString(), schema, entries, files, bytes, gone };
  await writeFile(join(partial, NOTE), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
  await syncFolders(partial);
  return note;
}

/** Without a sync of its folder, a file can lose its name in a power cut. */
async function syncFolders(root: string): Promise<void> {
  const all = await readdir(root, { recursive: true, withFileTypes: true });
  for (const entry of all) {
    if (entry.isDirectory()) await durableFiles.syncFolder(join(entry.parentPath, entry.name));
  }
  await durableFiles.syncPath(join(root, NOTE));
}

async function assertUsable(dataDir: string, target: string): Promise<void> {
  if (!existsSync(join(dataDir, DATABASES[0]))) {
    throw new BackupRefused(
      `there is no spool in ${dataDir}: name the gateway's configuration with --config`,
    );
  }
  if (target === dataDir || target.startsWith(dataDir + sep)) {
    throw new BackupRefused(`${target} is in the data folder: name a folder outside of it`);
  }
  if (existsSync(target) && (await readdir(target)).length > 0) {
    throw new BackupRefused(`${target} is not empty: name a new folder, ${target}-2 for instance`);
  }
}

async function assertRoom(folder: string, blobs: readonly NamedBlob[]): Promise<void> {
  const needed = blobs.reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = await statfs(folder);
  if (needed > bavail * bsize) {
    const megabytes = (count: number): string => `${Math.ceil(count / 1_000_000)} MB`;
    throw new BackupRefused(
      `there is not enough disk space: ${megabytes(needed)} needed, ${megabytes(bavail * bsize)} free`,
    );
  }
}

const noteSchema = z.object({ entries: z.number(), gone: z.array(z.string()) });

/** The problems of a backup, one line each; empty if a gateway can use it. */
export async function checkBackup(folder: string): Promise<string[]> {
  const spool = join(folder, DATABASES[0]);
  if (!existsSync(spool)) return [`${folder} is not a backup: it has no ${DATABASES[0]}`];
  const damaged = DATABASES.flatMap((file) => {
    if (!existsSync(join(folder, file))) return [];
    const damage = damageOf(join(folder, file));
    return damage === undefined ? [] : [`${file} is damaged: ${damage}`];
  });
  if (damaged.length > 0) return damaged;

  const note = await readNote(folder);
  if (note === undefined) return [`${NOTE} is missing or cannot be read`];
  const { entries, blobs } = contentsOf(spool);
  const problems =
    note.entries === entries ? [] : [`${entries} entries instead of ${note.entries}`];
  const gone = new Set(note.gone);
  for (const { blob, size } of blobs) {
    const path = join('blobs', blob);
    if (gone.has(path)) continue;
    const found = await sizeOf(join(folder, path));
    if (found === undefined) problems.push(`${path} is missing`);
    else if (found !== size) problems.push(`${path} has ${found} bytes instead of ${size}`);
  }
  return problems;
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch {
    return undefined;
  }
}

async function readNote(folder: string): Promise<Pick<BackupNote, 'entries' | 'gone'> | undefined> {
  try {
    const note = noteSchema.safeParse(JSON.parse(await readFile(join(folder, NOTE), 'utf8')));
    return note.data;
  } catch {
    return undefined;
  }
}
