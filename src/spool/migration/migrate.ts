import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BlobName } from '../../domain/ids.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { explaining, SpoolUnusable } from '../errors.ts';
import type { NamedBlob } from '../fleet.ts';
import { type Move, movedAway } from '../move.ts';
import { ScratchFiles } from '../scratch.ts';
import { type DatabaseOptions, SharedDatabase, withoutPassword } from './database.ts';
import { Folder, folderAt } from './folder.ts';
import { type Contents, type CopiedBlobs, keyOf, type Place } from './rows.ts';
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
    const database = await SharedDatabase.connect({ ...options.database, scratch });
    try {
      const folder = folderAt(resolve(options.dir));
      const [from, to] = options.to === 'database' ? [folder, database] : [database, folder];
      return await explaining(() => moveStore(from, to, options));
    } finally {
      await database.close();
    }
  } finally {
    await scratch.close();
  }
}

async function moveStore(from: Place, to: Place, options: MigrationOptions): Promise<Migrated> {
  const [before, there] = [await from.move(), await to.move()];
  if (before !== undefined && (before.state === 'filling' || before.other !== to.name)) {
    throw movedAway(from.name, before, from.undo);
  }
  if (there !== undefined && (there.state !== 'filling' || there.id !== before?.id)) {
    throw movedAway(to.name, there, to.undo);
  }
  const nothing = { rows: {}, blobs: 0, missing: [] };
  const done = { ...nothing, from: from.name, to: to.name, wasDone: true };
  if (before?.state === 'moved' && there === undefined) return done;
  if (there === undefined) await to.assertEmpty();
  const source = await from.open();
  try {
    const move = before ?? { id: randomUUID(), state: 'emptying', other: to.name, at: Date.now() };
    if (there === undefined) await mark(from, to, move);
    const target = await to.open();
    try {
      const isCopied = move.state === 'moved';
      const copied = isCopied ? nothing : await copy(source, target, options, done);
      // The old place first: at no time both can be used.
      if (!isCopied) await from.setMove({ ...move, state: 'moved', at: Date.now() });
      target.finish?.();
      await to.setMove(undefined);
      return { ...done, ...copied, wasDone: isCopied };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Marks both places, or leaves both as they were. */
async function mark(from: Place, to: Place, move: Move): Promise<void> {
  await from.setMove(move);
  await to.setMove({ ...move, state: 'filling', other: from.name });
  try {
    // A gateway that has opened one of them meanwhile would not have seen its mark.
    await from.assertUnused?.();
    await to.assertEmpty();
  } catch (error) {
    await to.setMove(undefined);
    await from.setMove(undefined);
    throw error;
  }
}

type Copied = Pick<Migrated, 'rows' | 'blobs' | 'missing'>;

async function copy(
  source: Contents,
  target: Contents,
  options: MigrationOptions,
  names: Pick<Migrated, 'from' | 'to'>,
): Promise<Copied> {
  const before = await target.resume();
  const rows = before?.rows ?? (await countRows(source));
  if (before === undefined) await target.write({ rows });
  const named = before?.blobs === undefined ? await source.namedBlobs() : [];
  let copied = before?.blobs?.count ?? 0;
  const total = Object.values(rows).reduce((sum, count) => sum + count, copied + named.length);
  const onCopied = (count: number) => {
    options.signal?.throwIfAborted();
    copied += count;
    options.onProgress?.(copied, total);
  };
  const blobs = before?.blobs ?? (await copyBlobs(source, target, named, onCopied));
  if (before?.blobs === undefined) await target.write({ rows, blobs });
  const doneTables = TABLES.findIndex(({ name }) => name === before?.table);
  for (const [index, table] of TABLES.entries()) {
    if (index < doneTables) {
      onCopied(rows[table.name] ?? 0);
      continue;
    }
    // The next portion is read while the last one is written.
    let writing: Promise<void> | void = undefined;
    const after = index === doneTables ? before?.after : undefined;
    for await (const portion of source.read(table, after)) {
      await writing;
      onCopied(portion.length);
      const progress = { rows, blobs, table: table.name, after: keyOf(table, portion.at(-1)) };
      writing = target.write(progress, table, portion);
      writing?.catch(() => undefined);
    }
    await writing;
  }
  await target.complete(await source.erasureKey());
  options.onCompare?.();
  const different = await differences(source, target, options);
  if (different.length === 0) return { rows, blobs: blobs.count, missing: blobs.missing };
  throw new SpoolUnusable(
    `${names.to} differs from ${names.from} in: ${different.join(', ')}. Nothing has been switched: ` +
      'remove what was copied, and run the command again.',
    { mayPass: true },
  );
}

export interface Plan extends Pick<Migrated, 'from' | 'to' | 'rows' | 'blobs'> {
  /** Of the blobs. */
  readonly bytes: number;
}

/** What a migration would copy. It changes nothing, and works beside a gateway. */
export async function planMigration(
  options: Pick<MigrationOptions, 'dir' | 'database' | 'to' | 'scratchFolder'>,
): Promise<Plan> {
  const [dir, url] = [resolve(options.dir), withoutPassword(options.database.url)];
  const [from, to] = options.to === 'database' ? [dir, url] : [url, dir];
  const scratch = new ScratchFiles(options.scratchFolder);
  const source: Contents =
    options.to === 'database'
      ? await explaining(() => Folder.look(dir))
      : await SharedDatabase.connect({ ...options.database, scratch });
  try {
    const rows = await countRows(source);
    const blobs = await source.namedBlobs();
    const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
    return { from, to, rows, blobs: blobs.length, bytes };
  } finally {
    await source.close();
    await scratch.close();
  }
}

/** How many rows a store has, by table. */
async function countRows(source: Contents): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of TABLES) rows[table.name] = await source.count(table);
  return rows;
}

async function copyBlobs(
  source: Contents,
  target: Contents,
  blobs: readonly NamedBlob[],
  onCopied: (count: number) => void,
): Promise<CopiedBlobs> {
  const there = await target.storedBlobs('sizes');
  const missing: string[] = [];
  const waiting = blobs.values();
  const work = async () => {
    for (const { blob, size } of waiting) {
      const isThere = there.get(blob) === size;
      if (!isThere && !(await copyBlob(source, target, blob))) missing.push(blob);
      onCopied(1);
    }
  };
  await Promise.all(Array.from({ length: BLOBS_AT_ONCE }, work));
  return { count: blobs.length, missing };
}

async function copyBlob(source: Contents, target: Contents, name: BlobName): Promise<boolean> {
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

/** The tables in which two stores differ, by their hashes. */
async function differences(
  source: Contents,
  target: Contents,
  { signal, database: { s3 } }: MigrationOptions,
): Promise<string[]> {
  const different: string[] = [];
  for (const table of TABLES) {
    signal?.throwIfAborted();
    const [one, other] = await Promise.all([source.digest(table), target.digest(table)]);
    if (one !== other) different.push(table.name);
  }
  const of = s3 === undefined ? 'hashes' : 'sizes';
  const [one, other] = await Promise.all([source.storedBlobs(of), target.storedBlobs(of)]);
  const named = await source.namedBlobs();
  if (named.some(({ blob }) => one.get(blob) !== other.get(blob))) different.push('blob');
  return different;
}
