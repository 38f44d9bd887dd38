import { existsSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { durableFiles } from '../../runtime/durable-files.ts';
import { asBlobName } from '../../domain/ids.ts';
import type {
  Eraser,
  EraseRowsOptions,
  ErasedRows,
  FindOptions,
  Found,
  Person,
  Purged,
  RestKind,
  StoredName,
  TracedEntry,
  Traces,
} from '../erasure.ts';
import { ErasureKey } from './erased-keys.ts';
import { SpoolUnusable } from '../errors.ts';
import { BLOB_LOCK, DataFolderLock, SharedLock } from '../locks.ts';
import { type Db, openDatabase } from './database.ts';
import { purge } from './erasure-bytes.ts';
import { TraceFinder } from './erasure-finder.ts';
import { ErasureRows } from './erasure-rows.ts';

/** Transactions of other processes are short. */
const BUSY_MS = 30_000;
/** Raw forms of up to 64 KiB each are overwritten in one transaction. */
const ENTRIES_AT_ONCE = 20;
const LOOK_EVERY_MS = 200;

/** `Eraser` documents the methods. It has its own connection, beside a gateway or without one. */
export class SpoolEraser implements Eraser {
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

  async count(): Promise<number> {
    return Promise.resolve(this.#finder.count());
  }

  async *names(): AsyncGenerator<StoredName> {
    for (let after: readonly string[] = ['', '', '']; ;) {
      const rows = this.#finder.names(after);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = [last.shop, last.scope, last.name];
      await nextTurn();
    }
  }

  async eraseNames(names: readonly StoredName[]): Promise<void> {
    this.#rows.names(names);
    return Promise.resolve();
  }

  find(options: FindOptions): Promise<Found> {
    return this.#finder.find(options);
  }

  async hashOf(identity: string): Promise<string> {
    const key = ErasureKey.readOrMake(this.#dir);
    return Promise.resolve(Buffer.from(key.hash('person', identity)).toString('hex'));
  }

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

  async rest(kind: RestKind): Promise<readonly string[]> {
    return Promise.resolve(this.#rows.rest(kind));
  }

  async forgetRest(kind: RestKind, names: readonly string[]): Promise<void> {
    this.#rows.forgetRest(kind, names);
    return Promise.resolve();
  }

  /**
   * Deletes temporary files that nobody uses: beside a gateway, those from before its start;
   * without one, all of them, and the files in `blobs/` without a row, unless a command that
   * accepts messages may be about to reference them.
   */
  async sweepTemporary(): Promise<void> {
    await whileAlone(this.#dir, async (isAlone) => {
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

  async purge(person: Person): Promise<Readonly<Record<string, Purged>>> {
    return { 'spool.db': await purgeBeside(this.#db, this.#dir, person) };
  }
}

/** Removes deleted bytes from a database of this data folder, with or without a running gateway. */
export function purgeBeside(db: Db, dir: string, { occursIn }: Person): Promise<Purged> {
  return whileAlone(dir, (isAlone) => purge(db, { occursIn, isServed: !isAlone }));
}

/** Runs `work` while no gateway can start; `isAlone` is false if one is running. */
async function whileAlone<T>(dir: string, work: (isAlone: boolean) => Promise<T>): Promise<T> {
  let lock: DataFolderLock | undefined;
  try {
    lock = DataFolderLock.take(dir);
  } catch (error) {
    if (!(error instanceof SpoolUnusable)) throw error;
  }
  try {
    return await work(lock !== undefined);
  } finally {
    lock?.release();
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
