import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { makeFolder } from '../../runtime/durable-files.ts';
import { BlobFiles } from '../blobs.ts';
import { SpoolUnusable } from '../errors.ts';
import type { NamedBlob } from '../fleet.ts';
import { DataFolderLock } from '../locks.ts';
import { folderMove, setFolderMove } from '../move.ts';
import { jsonOf, storable } from '../postgres/rows.ts';
import { type Db, hasItAlone, MAX_LOG_BYTES, logBytes, openDatabase } from '../sqlite/database.ts';
import { NAMED_BLOBS } from '../sqlite/database-copy.ts';
import { readErasureKey, writeErasureKey } from '../sqlite/erased-keys.ts';
import { hashOf, type Contents, type Key, type Place, type Progress } from './rows.ts';
import { defineFunctions, quoted, type Row, type Table, type Value } from './tables.ts';

/** Enough for the indexes that are written in random order. */
const CACHE_KIB = 256 * 1024;
const BYTES_AT_ONCE = 4 * 1024 * 1024;
const ROWS_AT_ONCE = 2000;
/** The commands that use the folder for a moment. */
const WAIT_MS = 5000;

/** A data folder as one end of a move. */
export const folderAt = (dir: string): Place => ({
  name: dir,
  undo: `delete moved.json in it, ${dir}`,
  move: () => folderMove(dir),
  setMove: (move) => {
    if (move !== undefined) makeFolder(dir);
    return setFolderMove(dir, move);
  },
  assertEmpty: () => {
    if (!existsSync(join(dir, 'spool.db'))) return;
    const why = `${dir} is not empty: it has a spool.db. Name a new folder.`;
    throw new SpoolUnusable(why, { mayPass: true });
  },
  open: () => Folder.open(dir),
});

/** The store in a data folder. */
export class Folder implements Contents {
  readonly blobs: BlobFiles;
  readonly #dir: string;
  readonly #db: Db;
  readonly #lock: DataFolderLock | undefined;

  private constructor(dir: string, db: Db, lock?: DataFolderLock) {
    this.#dir = dir;
    this.#db = db;
    this.#lock = lock;
    this.blobs = new BlobFiles({ dir: join(dir, 'blobs'), reserveBytes: 0 });
    defineFunctions(db);
  }

  /**
   * Takes the folder; a new one gets an empty database.
   * @throws {SpoolUnusable} a gateway or a command uses it
   */
  static open(dir: string): Folder {
    const lock = DataFolderLock.take(dir);
    try {
      const file = join(dir, 'spool.db');
      // Makes durable what a process has left, and updates the schema.
      openDatabase(file, 'owner').close();
      return new Folder(dir, openAlone(file, dir), lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** To count what is in it, also while a gateway runs. */
  static look(dir: string): Folder {
    return new Folder(dir, openDatabase(join(dir, 'spool.db')));
  }

  count({ folder }: Table): number {
    return this.#db.prepare<[], number>(`SELECT count(*) FROM (${folder})`).pluck().get() ?? 0;
  }

  async *read(table: Table, after: Key = []): AsyncGenerator<readonly Row[]> {
    const key = table.key.map(quoted).join(', ');
    const from = after.length === 0 ? '' : `WHERE (${key}) > (${after.map(() => '?').join(', ')})`;
    const found = this.#db.prepare<unknown[], Record<string, Value>>(
      `SELECT * FROM (${table.folder}) ${from} ORDER BY ${key}`,
    );
    let rows: Row[] = [];
    let bytes = 0;
    for (const row of found.iterate(...after)) {
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'string') row[name] = storedText(name, value);
        if (value instanceof Uint8Array || typeof value === 'string') bytes += value.length;
      }
      rows.push(row);
      if (rows.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
      yield rows;
      await nextTurn();
      [rows, bytes] = [[], 0];
    }
    if (rows.length > 0) yield rows;
  }

  async digest(table: Table): Promise<string> {
    let [rows, sum] = [0, 0n];
    for await (const portion of this.read(table)) {
      rows += portion.length;
      for (const row of portion) sum += hashOf(table, row);
    }
    return `${rows} ${sum}`;
  }

  namedBlobs(): NamedBlob[] {
    return this.#db.prepare<[], NamedBlob>(NAMED_BLOBS).all();
  }

  async storedBlobs(of: 'sizes' | 'hashes'): Promise<ReadonlyMap<string, number | string>> {
    const stored = new Map<string, number | string>();
    for (const name of await this.blobs.names()) {
      const path = this.blobs.path(name);
      stored.set(name, of === 'sizes' ? (await stat(path)).size : await sha256Of(path));
    }
    return stored;
  }

  erasureKey(): Uint8Array | undefined {
    return readErasureKey(this.#dir);
  }

  async resume(): Promise<Progress | undefined> {
    // A blob that is written again has the same name.
    for (const name of await this.blobs.names()) {
      if (name.endsWith('.tmp')) await rm(this.blobs.path(name), { force: true });
    }
    this.#db.exec('CREATE TABLE IF NOT EXISTS moving (progress TEXT NOT NULL) STRICT');
    const progress = this.#db.prepare<[], string>('SELECT progress FROM moving').pluck().get();
    // Written by `write`.
    return progress === undefined ? undefined : (JSON.parse(progress) as Progress);
  }

  write(progress: Progress, table?: Table, rows: readonly Row[] = []): void {
    const statements = (table?.toFolder ?? []).map((sql) => this.#db.prepare(sql));
    const remember = this.#db.prepare(
      'INSERT OR REPLACE INTO moving (rowid, progress) VALUES (1, ?)',
    );
    this.#db.transaction(() => {
      for (const row of rows) for (const statement of statements) statement.run(row);
      remember.run(JSON.stringify(progress));
    })();
    if (logBytes(this.#db.name) > MAX_LOG_BYTES) this.#db.pragma('wal_checkpoint(TRUNCATE)');
  }

  complete(erasureKey: Uint8Array | undefined): void {
    if (erasureKey !== undefined) writeErasureKey(this.#dir, erasureKey);
    this.#db.exec(
      `UPDATE entries SET claimable = 1
       WHERE seq IN (SELECT min(seq) FROM entries WHERE in_lane = 1 GROUP BY lane_hash)`,
    );
  }

  finish(): void {
    this.#db.exec('DROP TABLE IF EXISTS moving');
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#db.close();
    this.#lock?.release();
  }
}

/** Locks out every other process: commands use a database without the lock of its folder. */
function openAlone(file: string, dir: string): Db {
  const db = new Sqlite(file, { timeout: WAIT_MS });
  if (!hasItAlone(db)) {
    db.close();
    const why = `${dir} is in use by another command of Sluice. Wait until it ends.`;
    throw new SpoolUnusable(why, { mayPass: true });
  }
  db.pragma('synchronous = FULL');
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('secure_delete = ON');
  db.pragma(`cache_size = -${CACHE_KIB}`);
  return db;
}

/** A text as PostgreSQL stores it. An index over jsonb refuses the escapes of what it cannot store. */
const storedText = (column: string, text: string): string =>
  column === 'reason' ? jsonOf(JSON.parse(text)) : storable(text);

async function sha256Of(path: string): Promise<string> {
  const sum = createHash('sha256');
  await pipeline(createReadStream(path), sum);
  return sum.digest('hex');
}
