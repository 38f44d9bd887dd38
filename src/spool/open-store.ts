import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DurableFiles, makeFileOnce, makeFolder } from '../runtime/durable-files.ts';
import type { EntryIndex, IndexOptions } from './entry-index.ts';
import type { Eraser } from './erasure.ts';
import { explaining, SpoolUnavailable, SpoolUnusable } from './errors.ts';
import { DataFolderLock } from './locks.ts';
import { assertNotMoved } from './move.ts';
import { openSqliteStore, type SqliteSpoolOptions } from './sqlite/open.ts';
import { purgePostponed } from './sqlite/vacuum.ts';
import type { Store } from './store.ts';

export interface StoreOptions extends SqliteSpoolOptions {
  /** `sqlite`, or the URL of a PostgreSQL database. */
  readonly url: string;
  /** Where blobs of a shared store are: `postgres`, or an `s3://` URL. */
  readonly blobs?: string | undefined;
  /** Fingerprints of the keys that all gateways with one database need; none for a command. */
  readonly keys?: readonly string[];
}

export interface OpenedStore extends Store {
  /** Opens the index of the entries; the caller closes it before the spool. */
  readonly openIndex: (onFailure?: IndexOptions['onFailure']) => Promise<EntryIndex>;
  /** Opens what erases people; the caller closes it before the spool. */
  readonly openEraser: () => Promise<Eraser>;
}

/**
 * Opens the configured store.
 * @throws {SpoolUnusable} locked, damaged, of a newer version, or a database that cannot be reached
 */
export function openStore(options: StoreOptions): Promise<OpenedStore> {
  return explaining(() => (options.url === 'sqlite' ? openEmbedded(options) : openShared(options)));
}

async function openEmbedded(options: SqliteSpoolOptions): Promise<OpenedStore> {
  const { dir, role } = options;
  assertNotMoved(dir);
  const store = await openSqliteStore(options);
  return {
    ...store,
    openIndex: async (onFailure) => {
      const { SearchThreads } = await import('./search/search-threads.ts');
      return new SearchThreads({ dir, role, onFailure });
    },
    openEraser: () => explaining(() => embeddedEraser(dir)),
  };
}

/** The index is a file of its own, which follows the store's. */
async function embeddedEraser(dir: string): Promise<Eraser> {
  const { openEraser } = await import('./sqlite/erasure.ts');
  const { eraseFromIndex } = await import('./search/open-search.ts');
  const eraser = openEraser(dir);
  return {
    ...eraser,
    hashOf: (identity) => explaining(() => eraser.hashOf(identity)),
    eraseRows: (...args) => explaining(() => eraser.eraseRows(...args)),
    purge: async (signal) => {
      const store = await eraser.purge();
      signal?.throwIfAborted();
      const index = await eraseFromIndex(dir);
      return { ...store, ...(index !== undefined && { 'search.db': index }) };
    },
  };
}

/**
 * The data folder of a gateway with a shared store has its keys, its name and scratch files. It is
 * locked: two processes of one name would return each other's leases to the queue.
 */
async function openShared(options: StoreOptions): Promise<OpenedStore> {
  const { url, dir, role, reserveBytes, keys, blobs } = options;
  makeFolder(dir);
  const isOwner = role === 'owner';
  const lock = isOwner ? DataFolderLock.take(dir) : undefined;
  try {
    if (isOwner) await purgePostponed(dir);
    // The driver is loaded only where it is used.
    const { openPostgresStore } = await import('./postgres/open.ts');
    const store = await openPostgresStore({
      url,
      instance: isOwner ? nameOf(dir) : randomUUID(),
      scratchFolder: isOwner ? join(dir, 'tmp', 'blobs') : mkdtempSync(join(tmpdir(), 'sluice-')),
      ...(keys !== undefined && { keys }),
      ...(blobs !== 'postgres' && { s3: blobs }),
    });
    const close = async () => {
      await store.spool.close();
      lock?.release();
    };
    return {
      ...store,
      spool: { ...store.spool, close },
      files: new DurableFiles(),
      neededBytes: () => reserveBytes,
      openIndex: (onFailure) => Promise.resolve(store.openIndex({ role, onFailure })),
      openEraser: () => Promise.resolve(store.openEraser()),
    };
  } catch (error) {
    lock?.release();
    if (error instanceof SpoolUnavailable) throw notReached(error);
    throw error;
  }
}

/** The name of the gateway with this data folder, made at its first start. */
function nameOf(dir: string): string {
  const file = join(dir, 'instance');
  makeFileOnce(file, `${randomUUID()}\n`);
  return readFileSync(file, 'utf8').trim();
}

function notReached(error: SpoolUnavailable): SpoolUnusable {
  const { cause } = error;
  const why = cause instanceof Error && cause.message !== '' ? cause.message : error.message;
  return new SpoolUnusable(
    `The database of spool.url cannot be used: ${why}. Check the URL, and that the server runs and ` +
      'this user may create tables in the database (sluice doctor --only database)',
    { cause: error, mayPass: true },
  );
}
