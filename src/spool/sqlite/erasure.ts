import { existsSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { durableFiles } from '../../runtime/durable-files.ts';
import { asBlobName, type ShopId } from '../../domain/ids.ts';
import type { Person, TracedEntry, Traces } from '../erasure.ts';
import { ErasureKey } from './erased-keys.ts';
import { SpoolUnusable } from '../errors.ts';
import { BLOB_LOCK, DataFolderLock, SharedLock } from '../locks.ts';
import { type Db, openDatabase } from './database.ts';
import { purge, type Purged } from './erasure-bytes.ts';
import { type FinderOptions, type Found, TraceFinder } from './erasure-finder.ts';
import { ErasureRows, type RestKind } from './erasure-rows.ts';

/** Transactions of other processes are short. */
const BUSY_MS = 30_000;
/** Raw forms of up to 64 KiB each are overwritten in one transaction. */
const ENTRIES_AT_ONCE = 20;
const LOOK_EVERY_MS = 200;

export interface ErasedRows {
  readonly senderRates: number;
  /** Entries that were still being delivered when they were erased. */
  readonly inFlight: readonly TracedEntry[];
}

export interface EraseRowsOptions {
  readonly person: Person;
  readonly shops: readonly ShopId[];
  /** How long to wait for deliveries in flight. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Erases a person from the store, with or without a running gateway: on its own connection, in
 * short transactions. Every step can be repeated, after a kill or for data that has arrived since.
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
   * @param dir a data folder with a spool
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

  /** The number of entries, all of which `find` reads. */
  count(): number {
    return this.#finder.count();
  }

  find(options: FinderOptions): Promise<Found> {
    return this.#finder.find(options);
  }

  /** A hash of the person that is always the same, and useless without the key file. */
  hashOf(identity: string): string {
    return Buffer.from(ErasureKey.readOrMake(this.#dir).hash('person', identity)).toString('hex');
  }

  /**
   * Deletes the rows of what was found. Waits for deliveries in flight; when `waitMs` is over their
   * entries are erased anyway, and the outcome of the attempt changes nothing.
   * @throws the signal's reason, between two transactions
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

  /** Deletes the files whose rows were deleted. Resolves with their number. */
  async eraseBlobs(): Promise<number> {
    const rows = this.#rows;
    const names = rows.rest('blob');
    if (names.length === 0) return 0;
    // A mail to two shops is stored as one file.
    const unnamed = names.filter((name) => !rows.isNamed(asBlobName(name)));
    for (const name of unnamed) await rm(join(this.#dir, 'blobs', name), { force: true });
    await durableFiles.syncFolder(join(this.#dir, 'blobs'));
    rows.forgetRest('blob', names);
    return unnamed.length;
  }

  /** What has still to be deleted on the embedded platform. */
  rest(kind: RestKind): string[] {
    return this.#rows.rest(kind);
  }

  forgetRest(kind: RestKind, names: readonly string[]): void {
    this.#rows.forgetRest(kind, names);
  }

  /**
   * Deletes temporary files that nobody uses: beside a gateway, those from before its start;
   * without one, all of them, and the files in `blobs/` without a row, unless a command that
   * accepts messages may be about to reference them.
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

  /** Removes deleted bytes from the store's files. */
  purge(person: Person): Promise<Purged> {
    return this.purgeOther(this.#db, person);
  }

  /** The same for another database of the data folder, the embedded platform's. */
  purgeOther(db: Db, person: Person): Promise<Purged> {
    const { occursIn } = person;
    return this.whileAlone((isAlone) => purge(db, { occursIn, isServed: !isAlone }));
  }

  /** Runs `work` while no gateway can start; `isAlone` is false if one is running. */
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

async function namesIn(folder: string): Promise<readonly string[]> {
  return existsSync(folder) ? readdir(folder) : [];
}

/** Removes everything last modified before this time, folders with their contents. */
async function sweep(folder: string, before: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const touched = await stat(path).catch(() => undefined);
    if (touched !== undefined && touched.mtimeMs < before) {
      await rm(path, { recursive: true, force: true });
    }
  }
}
