import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { asBlobName } from '../../domain/ids.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { BlobFiles } from '../blobs.ts';
import { SpoolUnusable } from '../errors.ts';
import { remoteHash, uuidOf } from '../hashes.ts';
import { DataFolderLock } from '../locks.ts';
import { type Db, MAX_LOG_BYTES, logBytes, openDatabase } from '../sqlite/database.ts';
import { readErasureKey, writeErasureKey } from '../sqlite/erased-keys.ts';
import {
  comparedText,
  type Digest,
  type Key,
  type NamedBlob,
  type Progress,
  ROWS_AT_ONCE,
  rowOf,
  Sum,
  type Target,
} from './rows.ts';
import { quoted, type Row, type Table, type Value } from './tables.ts';

/** Enough for the indexes that are written in random order. */
const CACHE_KIB = 256 * 1024;
const BYTES_AT_ONCE = 4 * 1024 * 1024;
const ROWS_PER_TURN = 1000;
/** The commands that use the folder for a moment. */
const WAIT_MS = 5000;

/** A store in a data folder, which nothing else uses meanwhile. */
export class Folder implements Target {
  readonly name: string;
  readonly blobs: BlobFiles;
  readonly #db: Db;
  readonly #lock: DataFolderLock | undefined;

  private constructor(dir: string, db: Db, lock?: DataFolderLock) {
    this.name = dir;
    this.#db = db;
    this.#lock = lock;
    this.blobs = new BlobFiles({ dir: join(dir, 'blobs'), reserveBytes: 0 });
    db.function('remote_hash', { deterministic: true }, (shop, id) =>
      remoteHash(String(shop), String(id)),
    );
    db.function('uuid_of', { deterministic: true }, (hash) =>
      hash instanceof Uint8Array ? uuidOf(hash) : null,
    );
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

  count({ folder }: Table): Promise<number> {
    const row = this.#db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM (${folder})`).get();
    return Promise.resolve(row?.n ?? 0);
  }

  async *read(table: Table, after?: Key): AsyncGenerator<readonly Row[]> {
    let rows: Row[] = [];
    let bytes = 0;
    for await (const row of this.#rows(table, after)) {
      rows.push(row);
      for (const value of Object.values(row)) {
        if (value instanceof Uint8Array || typeof value === 'string') bytes += value.length;
      }
      if (rows.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
      yield rows;
      rows = [];
      bytes = 0;
    }
    if (rows.length > 0) yield rows;
  }

  async *#rows(table: Table, after?: Key): AsyncGenerator<Row> {
    const key = table.key.map(quoted).join(', ');
    const from =
      after === undefined ? '' : `WHERE (${key}) > (${table.key.map(() => '?').join(', ')})`;
    const statement = this.#db.prepare<unknown[], Row>(
      `SELECT * FROM (${table.folder}) ${from} ORDER BY ${key}`,
    );
    let read = 0;
    for (const row of statement.iterate(...(after ?? []))) {
      yield rowOf(table, row);
      read += 1;
      if (read % ROWS_PER_TURN === 0) await nextTurn();
    }
  }

  async digest(table: Table): Promise<Digest> {
    const sum = new Sum();
    for await (const row of this.#rows(table)) sum.add(comparedText(table, row));
    return sum.digest;
  }

  namedBlobs(): Promise<readonly NamedBlob[]> {
    return Promise.resolve(
      this.#db
        .prepare<[], NamedBlob>(
          `SELECT blob AS name, raw_size AS size FROM entries WHERE blob IS NOT NULL
           UNION SELECT blob, size FROM uploads`,
        )
        .all(),
    );
  }

  async storedBlobs(): Promise<readonly NamedBlob[]> {
    const dir = join(this.name, 'blobs');
    const stored: NamedBlob[] = [];
    for (const name of await readdir(dir)) {
      stored.push({ name: asBlobName(name), size: (await stat(join(dir, name))).size });
    }
    return stored;
  }

  async blobDigest(of: 'bytes' | 'sizes'): Promise<Digest> {
    const sum = new Sum();
    const named = new Set((await this.namedBlobs()).map(({ name }) => name));
    for (const { name, size } of await this.storedBlobs()) {
      if (!named.has(name)) continue;
      sum.add(`${name} ${of === 'sizes' ? size : await sha256Of(this.blobs.read(name))}`);
    }
    return sum.digest;
  }

  erasureKey(): Promise<Uint8Array | undefined> {
    return Promise.resolve(readErasureKey(this.name));
  }

  async progress(): Promise<Progress | undefined> {
    // Of a run that was killed; a blob that is written again has the same name.
    for (const name of await readdir(join(this.name, 'blobs'))) {
      if (name.endsWith('.tmp')) await rm(join(this.name, 'blobs', name), { force: true });
    }
    this.#db.exec('CREATE TABLE IF NOT EXISTS moving (progress TEXT NOT NULL) STRICT');
    const row = this.#db.prepare<[], { progress: string }>('SELECT progress FROM moving').get();
    // Written by `write`.
    return row && (JSON.parse(row.progress) as Progress);
  }

  write(table: Table, rows: readonly Row[], progress: Progress): Promise<void> {
    const statements = table.toFolder.map((sql) => {
      const names = [...sql.matchAll(/@(\w+)/g)].flatMap(([, name]) => name ?? []);
      return { statement: this.#db.prepare(sql), names: [...new Set(names)] };
    });
    this.#db.transaction(() => {
      for (const row of rows) {
        for (const { statement, names } of statements) {
          statement.run(Object.fromEntries(names.map((name) => [name, bound(row[name] ?? null)])));
        }
      }
      this.#remember(progress);
    })();
    if (logBytes(this.#db.name) > MAX_LOG_BYTES) this.#db.pragma('wal_checkpoint(TRUNCATE)');
    return Promise.resolve();
  }

  remember(progress: Progress): Promise<void> {
    this.#db.transaction(() => this.#remember(progress))();
    return Promise.resolve();
  }

  #remember(progress: Progress): void {
    this.#db.exec('DELETE FROM moving');
    this.#db.prepare('INSERT INTO moving VALUES (?)').run(JSON.stringify(progress));
  }

  complete(erasureKey: Uint8Array | undefined): Promise<void> {
    if (erasureKey !== undefined) writeErasureKey(this.name, erasureKey);
    this.#db
      .prepare(
        `UPDATE entries SET claimable = 1
         WHERE seq IN (SELECT min(seq) FROM entries WHERE in_lane = 1 GROUP BY lane_hash)`,
      )
      .run();
    return Promise.resolve();
  }

  /** After the comparison: the database is one that a gateway opens. */
  finish(): void {
    this.#db.exec('DROP TABLE IF EXISTS moving');
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
  }

  close(): Promise<void> {
    this.#db.close();
    this.#lock?.release();
    return Promise.resolve();
  }
}

export const hasSpool = (dir: string): boolean => existsSync(join(dir, 'spool.db'));

/** Locks out every other process: commands use a database without the lock of its folder. */
function openAlone(file: string, dir: string): Db {
  const db = new Sqlite(file, { timeout: WAIT_MS });
  try {
    // Before the database is read for the first time, or it locks out nobody.
    db.pragma('locking_mode = EXCLUSIVE');
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    db.pragma('synchronous = FULL');
    db.pragma('wal_autocheckpoint = 0');
    db.pragma('secure_delete = ON');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    return db;
  } catch (cause) {
    db.close();
    if (!codeOf(cause).startsWith('SQLITE_BUSY')) throw cause;
    throw new SpoolUnusable(`${dir} is in use by another command of Sluice. Wait until it ends.`, {
      cause,
      mayPass: true,
    });
  }
}

/** SQLite has no booleans. */
const bound = (value: Value): Value => (typeof value === 'boolean' ? Number(value) : value);

async function sha256Of(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of bytes) sum.update(chunk);
  return sum.digest('hex');
}
