import { existsSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { durableFiles } from '../../runtime/durable-files.ts';
import { asBlobName, type ShopId } from '../../domain/ids.ts';
import type { Person, TracedEntry, Traces } from '../erasure.ts';
import { ErasureKey } from '../erasure-key.ts';
import { SpoolUnusable } from '../errors.ts';
import { DataFolderLock } from '../lock.ts';
import { BLOB_LOCK, SharedLock } from '../shared-lock.ts';
import { type Db, openDatabase } from './database.ts';
import { purge, type PurgeOptions, type Purged, truncateLog } from './erasure-bytes.ts';
import { type FinderOptions, type Found, TraceFinder } from './erasure-finder.ts';
import { ErasureRows, type RestKind } from './erasure-rows.ts';
import { indexFileOf } from '../search/index-database.ts';
import { OpenSearch } from '../search/open-search.ts';

/** Others' transactions are short. */
const BUSY_MS = 30_000;
/** Raw forms of up to 64 KiB each are overwritten in one transaction. */
const ENTRIES_AT_ONCE = 20;
const LOOK_EVERY_MS = 200;

export interface ErasedRows {
  readonly senderRates: number;
  /** Entries whose delivery was still under way when they were taken away. */
  readonly inFlight: readonly TracedEntry[];
}

export interface EraseRowsOptions {
  readonly person: Person;
  readonly shops: readonly ShopId[];
  /** For deliveries that are under way. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Erases a person from the store, beside a running gateway or without one: by a connection of its
 * own, in short transactions. Every step may be made again, after a kill or for what has come since.
 */
export class SpoolEraser {
  readonly #dir: string;
  readonly #db: Db;
  readonly #finder: TraceFinder;
  readonly #rows: ErasureRows;

  private constructor(dir: string, db: Db) {
    this.#dir = dir;
    this.#db = db;
    this.#finder = new TraceFinder(db, dir);
    this.#rows = new ErasureRows(db, () => ErasureKey.readOrMake(dir));
  }

  /**
   * @param dir the data folder; there is a spool in it
   * @throws {SpoolUnusable}
   */
  static open(dir: string): SpoolEraser {
    const db = openDatabase(join(dir, 'spool.db'));
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    return new SpoolEraser(dir, db);
  }

  close(): void {
    this.#db.close();
  }

  /** Entries in all: what `find` will have looked at. */
  count(): number {
    return this.#finder.count();
  }

  find(options: FinderOptions): Promise<Found> {
    return this.#finder.find(options);
  }

  /** The same for one person each time, and of no use to whoever has not the key's file. */
  hashOf(identity: string): string {
    return Buffer.from(ErasureKey.readOrMake(this.#dir).hash('person', identity)).toString('hex');
  }

  /**
   * Deletes the rows of what was found. A delivery that is under way is waited for; at the end its
   * entry is taken away all the same, and what the attempt tells changes nothing.
   * @throws the reason of the signal, between two transactions
   */
  async eraseRows(
    { entries, visitors, conversations, optOuts, notes }: Traces,
    { person, shops, waitMs, signal }: EraseRowsOptions,
  ): Promise<ErasedRows> {
    const rows = this.#rows;
    const deadline = performance.now() + waitMs;
    let left = await this.#eraseEntries(entries, 'keep', signal);
    while (left.length > 0 && performance.now() < deadline) {
      await delay(LOOK_EVERY_MS);
      left = await this.#eraseEntries(left, 'keep', signal);
    }
    await this.#eraseEntries(left, 'take', signal);
    rows.visitors(visitors);
    rows.conversations(conversations);
    rows.optOuts(optOuts);
    rows.notes(notes, person);
    rows.shopHealth(person);
    return { senderRates: rows.senderRates(person, shops), inFlight: left };
  }

  async #eraseEntries(
    entries: readonly TracedEntry[],
    inFlight: 'keep' | 'take',
    signal: AbortSignal | undefined,
  ): Promise<TracedEntry[]> {
    const left: TracedEntry[] = [];
    for (let at = 0; at < entries.length; at += ENTRIES_AT_ONCE) {
      const portion = entries.slice(at, at + ENTRIES_AT_ONCE);
      left.push(...this.#rows.entries(portion, inFlight, Date.now()));
      await nextTurn();
      signal?.throwIfAborted();
    }
    return left;
  }

  /** Deletes the files whose rows are gone. Resolves with how many. */
  async eraseBlobs(): Promise<number> {
    const rows = this.#rows;
    const names = rows.rest('blob');
    if (names.length === 0) return 0;
    // One mail to two shops is one file.
    const unnamed = names.filter((name) => !rows.isNamed(asBlobName(name)));
    for (const name of unnamed) await rm(join(this.#dir, 'blobs', name), { force: true });
    await durableFiles.syncFolder(join(this.#dir, 'blobs'));
    rows.forgetRest('blob', names);
    return unnamed.length;
  }

  /** What of the platform's has yet to follow. */
  rest(kind: RestKind): string[] {
    return this.#rows.rest(kind);
  }

  forgetRest(kind: RestKind, names: readonly string[]): void {
    this.#rows.forgetRest(kind, names);
  }

  /**
   * Temporary files that nobody works with: of a gateway that ended in the middle, and without one,
   * all of them, with the files in `blobs/` that no row names, unless a command that takes messages
   * in may be about to name them.
   */
  async sweepTemporary(): Promise<void> {
    await this.whileAlone(async (isAlone) => {
      const started = statSync(join(this.#dir, 'spool.pid'), { throwIfNoEntry: false });
      const before = isAlone ? Infinity : (started?.mtimeMs ?? 0);
      const folders = await namesIn(join(this.#dir, 'tmp'));
      for (const folder of folders) await sweep(join(this.#dir, 'tmp', folder), before);
      await sweep(join(this.#dir, 'platform', 'media', 'tmp'), before);
      if (!isAlone) return;
      await new SharedLock(join(this.#dir, BLOB_LOCK)).whileAlone(async (noneWrites) => {
        if (noneWrites) await this.#sweepBlobs();
      });
    });
  }

  async #sweepBlobs(): Promise<void> {
    for (const name of await namesIn(join(this.#dir, 'blobs'))) {
      if (!this.#rows.isNamed(asBlobName(name))) {
        await rm(join(this.#dir, 'blobs', name), { force: true });
      }
    }
  }

  /** The search index forgets what is gone. Undefined: there is no index. */
  eraseFromIndex(): Promise<Purged | undefined> {
    return eraseFromIndex(this.#dir);
  }

  /** Makes deleted bytes vanish from the store's files. */
  purge(person: Person): Promise<Purged> {
    return this.purgeOther(this.#db, person);
  }

  /** The same for another database of the data folder, the embedded platform's. */
  purgeOther(db: Db, person: Person): Promise<Purged> {
    return this.whileAlone((isAlone) => purge(db, purgeOptions(person, !isAlone)));
  }

  /** Keeps a gateway from starting meanwhile, unless one is running: then `isAlone` is false. */
  async whileAlone<T>(work: (isAlone: boolean) => Promise<T>): Promise<T> {
    let lock: DataFolderLock | undefined;
    try {
      lock = DataFolderLock.take(this.#dir);
    } catch (error) {
      if (!(error instanceof SpoolUnusable)) throw error;
    }
    try {
      return await work(lock !== undefined);
    } finally {
      lock?.release();
    }
  }
}

const purgeOptions = ({ occursIn }: Person, isServed: boolean): PurgeOptions => ({
  occursIn,
  isServed,
});

async function namesIn(folder: string): Promise<readonly string[]> {
  return existsSync(folder) ? readdir(folder) : [];
}

/** Removes what was last touched before, with all that is in it. */
async function sweep(folder: string, before: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const touched = await stat(path).catch(() => undefined);
    if (touched !== undefined && touched.mtimeMs < before) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** An index that is far behind has all entries to read. */
const CATCH_UP_WITHIN_MS = 30 * 60_000;
const INDEX_BUSY_MS = 60_000;

/**
 * Takes entries that are gone out of the search index, and writes it anew without them. No
 * acknowledgement waits for the index. Undefined: there is none.
 * @param dir the data folder
 */
export async function eraseFromIndex(dir: string): Promise<Purged | undefined> {
  const indexFile = indexFileOf(dir);
  if (!existsSync(indexFile)) return undefined;
  const search = new OpenSearch({
    ...{ indexFile, spoolFile: join(dir, 'spool.db') },
  });
  try {
    search.with(({ index }) => index.db.pragma(`busy_timeout = ${INDEX_BUSY_MS}`));
    search.catchUp(CATCH_UP_WITHIN_MS);
    search.with(({ index }) => index.rewrite());
    await search.with(({ index }) => truncateLog(index.db));
    return 'rewritten';
  } finally {
    search.close();
  }
}
