import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../../runtime/durable-files.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { explaining, SpoolUnusable } from '../errors.ts';
import { folderMove, type Move, movedAway, setFolderMove } from '../move.ts';
import { ScratchFiles } from '../scratch.ts';
import { type DatabaseOptions, SharedDatabase, withoutPassword } from './database.ts';
import { Folder, hasSpool } from './folder.ts';
import { type CopiedBlobs, keyOf, type NamedBlob, type Place, type Target } from './rows.ts';
import { TABLES } from './tables.ts';

export interface MigrationOptions {
  /** The data folder at one end. */
  readonly dir: string;
  /** The database at the other. */
  readonly database: Omit<DatabaseOptions, 'scratch'>;
  readonly to: 'database' | 'folder';
  /** Of this process alone. */
  readonly scratchFolder: string;
  /** Ends the copy between two portions; the next run goes on. */
  readonly signal?: AbortSignal;
  /** Called with the number of rows and blobs. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called when all is copied, before both copies are compared. */
  readonly onCompare?: () => void;
}

export interface Migrated {
  readonly from: string;
  readonly to: string;
  /** It was complete before: nothing was copied. */
  readonly wasDone: boolean;
  /** Rows by table, as PostgreSQL calls them. */
  readonly rows: Readonly<Record<string, number>>;
  readonly blobs: number;
  /** Blobs that rows name and that the old place no longer has. */
  readonly missing: readonly string[];
}

const BLOBS_AT_ONCE = 8;

/**
 * Copies a store to another place, compares both, and makes the old place one that no gateway opens. It
 * can be ended at any time; the next call goes on.
 * @throws {SpoolUnusable} one of the places is in use, or is that of another move, or the new one is not empty
 * @throws {SpoolUnavailable} the database cannot be reached
 */
export async function migrate(options: MigrationOptions): Promise<Migrated> {
  const scratch = new ScratchFiles(options.scratchFolder);
  try {
    const database = await SharedDatabase.open({ ...options.database, scratch });
    try {
      const dir = resolve(options.dir);
      const move = options.to === 'database' ? toDatabase : toFolder;
      return await explaining(() => move(dir, database, options));
    } finally {
      await database.close();
    }
  } finally {
    await scratch.close();
  }
}

const inDatabase = 'run DELETE FROM moved in it';
const inFolder = (dir: string) => `delete moved.json in it, ${dir}`;

async function toDatabase(
  dir: string,
  database: SharedDatabase,
  options: MigrationOptions,
): Promise<Migrated> {
  const before = folderMove(dir);
  if (before !== undefined && (before.state === 'filling' || before.other !== database.name)) {
    throw movedAway(dir, before, inFolder(dir));
  }
  const there = await database.move();
  if (there !== undefined && there.id !== before?.id) {
    throw movedAway(database.name, there, inDatabase);
  }
  const move = before ?? begun(database.name);
  const folder = Folder.open(dir);
  try {
    if (move.state !== 'moved') {
      await database.assertUnused();
      if (there === undefined) await beginFilling(database, dir, move);
      const migrated = await copy(folder, database, options);
      // The old place first: at no time both can be used.
      await setFolderMove(dir, ended(move));
      await database.setMove(undefined);
      return migrated;
    }
    // The last run was killed between these two.
    if (there !== undefined) await database.setMove(undefined);
    return done(dir, database.name);
  } finally {
    await folder.close();
  }
}

async function beginFilling(database: SharedDatabase, dir: string, move: Move): Promise<void> {
  await database.assertEmpty();
  await setFolderMove(dir, move);
  await database.setMove({ ...move, state: 'filling', other: dir });
  try {
    // A gateway that has opened it meanwhile would not have seen the move.
    await database.assertUnused();
    await database.assertEmpty();
  } catch (error) {
    await database.setMove(undefined);
    await setFolderMove(dir, undefined);
    throw error;
  }
}

async function toFolder(
  dir: string,
  database: SharedDatabase,
  options: MigrationOptions,
): Promise<Migrated> {
  const there = folderMove(dir);
  const before = await database.move();
  if (before !== undefined && (before.state === 'filling' || before.other !== dir)) {
    throw movedAway(database.name, before, inDatabase);
  }
  if (there !== undefined && (there.state !== 'filling' || there.id !== before?.id)) {
    throw movedAway(dir, there, inFolder(dir));
  }
  if (before?.state === 'moved' && there === undefined) return done(database.name, dir);
  if (there === undefined && hasSpool(dir)) {
    throw new SpoolUnusable(`${dir} is not empty: it has a spool.db. Name a new folder.`, {
      mayPass: true,
    });
  }
  const move = before ?? begun(dir);
  if (before === undefined) await beginEmptying(database, move);
  makeFolder(dir);
  await setFolderMove(dir, { ...move, state: 'filling', other: database.name });
  const folder = Folder.open(dir);
  try {
    const migrated =
      move.state === 'moved'
        ? done(database.name, dir)
        : await copyFrom(database, folder, move, options);
    folder.finish();
    await setFolderMove(dir, undefined);
    return migrated;
  } finally {
    await folder.close();
  }
}

async function beginEmptying(database: SharedDatabase, move: Move): Promise<void> {
  await database.assertUnused();
  await database.setMove(move);
  try {
    await database.assertUnused();
  } catch (error) {
    await database.setMove(undefined);
    throw error;
  }
}

async function copyFrom(
  database: SharedDatabase,
  folder: Folder,
  move: Move,
  options: MigrationOptions,
): Promise<Migrated> {
  await database.assertUnused();
  const migrated = await copy(database, folder, options);
  await database.setMove(ended(move));
  return migrated;
}

const begun = (other: string): Move => ({
  ...{ id: randomUUID(), state: 'emptying', other },
  at: Date.now(),
});

const ended = (move: Move): Move => ({ ...move, state: 'moved', at: Date.now() });

const done = (from: string, to: string): Migrated => ({
  ...{ from, to, wasDone: true, rows: {}, blobs: 0, missing: [] },
});

async function copy(source: Place, target: Target, options: MigrationOptions): Promise<Migrated> {
  const before = await target.progress();
  const rows = before?.rows ?? (await countRows(source));
  if (before?.rows === undefined) await target.remember({ rows });
  const named = before?.blobs === undefined ? await source.namedBlobs() : [];
  let copied = before?.blobs?.count ?? 0;
  const total = Object.values(rows).reduce((sum, count) => sum + count, copied + named.length);
  const onCopied = (count: number) => {
    options.signal?.throwIfAborted();
    copied += count;
    options.onProgress?.(copied, total);
  };
  const blobs = before?.blobs ?? (await copyBlobs(source, target, named, onCopied));
  if (before?.blobs === undefined) await target.remember({ rows, blobs });
  const doneTables = TABLES.findIndex(({ name }) => name === before?.table);
  for (const [index, table] of TABLES.entries()) {
    if (index < doneTables) {
      onCopied(rows[table.name] ?? 0);
      continue;
    }
    // The next portion is read while the last one is written.
    let writing: Promise<void> = Promise.resolve();
    const after = index === doneTables ? before?.after : undefined;
    for await (const portion of source.read(table, after)) {
      await writing;
      onCopied(portion.length);
      const last = keyOf(table, portion.at(-1));
      writing = target.write(table, portion, { rows, blobs, table: table.name, after: last });
      writing.catch(() => undefined);
    }
    await writing;
  }
  await target.complete(await source.erasureKey());
  options.onCompare?.();
  await compare(source, target, options);
  const { count, missing } = blobs;
  return { from: source.name, to: target.name, wasDone: false, rows, blobs: count, missing };
}

export interface Plan extends Pick<Migrated, 'from' | 'to' | 'rows' | 'blobs'> {
  /** Of the blobs. */
  readonly bytes: number;
}

/** What a migration would copy. It changes nothing, and works beside a gateway. */
export async function planMigration(
  options: Pick<MigrationOptions, 'dir' | 'database' | 'to' | 'scratchFolder'>,
): Promise<Plan> {
  const dir = resolve(options.dir);
  const other = withoutPassword(options.database.url);
  const scratch = new ScratchFiles(options.scratchFolder);
  const isToDatabase = options.to === 'database';
  const source = isToDatabase
    ? await explaining(() => Folder.look(dir))
    : await SharedDatabase.open({ ...options.database, scratch });
  try {
    const [rows, blobs] = [await countRows(source), await source.namedBlobs()];
    const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
    const to = isToDatabase ? other : dir;
    return { from: source.name, to, rows, blobs: blobs.length, bytes };
  } finally {
    await source.close();
    await scratch.close();
  }
}

/** How many rows a store has, by table. */
async function countRows(source: Place): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of TABLES) rows[table.name] = await source.count(table);
  return rows;
}

async function copyBlobs(
  source: Place,
  target: Target,
  blobs: readonly NamedBlob[],
  onCopied: (count: number) => void,
): Promise<CopiedBlobs> {
  const there = new Map((await target.storedBlobs()).map(({ name, size }) => [name, size]));
  const missing: string[] = [];
  const waiting = blobs.values();
  const work = async () => {
    for (const { name, size } of waiting) {
      const isThere = there.get(name) === size;
      if (!isThere && !(await copyBlob(source, target, name))) missing.push(name);
      onCopied(1);
    }
  };
  await Promise.all(Array.from({ length: BLOBS_AT_ONCE }, work));
  return { count: blobs.length, missing };
}

async function copyBlob(source: Place, target: Target, name: NamedBlob['name']): Promise<boolean> {
  const writer = target.blobs.writer({ inlineMaxBytes: -1, name });
  try {
    await pipeline(source.blobs.read(name), writer);
    await writer.commit();
    return true;
  } catch (error) {
    await writer.abort();
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** @throws {SpoolUnusable} the two places differ */
async function compare(source: Place, target: Place, options: MigrationOptions): Promise<void> {
  const different: string[] = [];
  for (const table of TABLES) {
    options.signal?.throwIfAborted();
    const [one, other] = await Promise.all([source.digest(table), target.digest(table)]);
    if (one.rows !== other.rows || one.hash !== other.hash) different.push(table.name);
  }
  const of = options.database.s3 === undefined ? 'bytes' : 'sizes';
  const [one, other] = await Promise.all([source.blobDigest(of), target.blobDigest(of)]);
  if (one.rows !== other.rows || one.hash !== other.hash) different.push('blob');
  if (different.length === 0) return;
  throw new SpoolUnusable(
    `${target.name} differs from ${source.name} in: ${different.join(', ')}. Nothing has been switched: ` +
      'remove what was copied, and run the command again.',
    { mayPass: true },
  );
}
