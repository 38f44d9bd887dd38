import { existsSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { durableFiles } from '../../runtime/durable-files.ts';
import { eraserOf, type ErasureSite } from '../cold/eraser.ts';
import type { Run } from '../cold/operation.ts';
import type { Eraser, TracedEntry } from '../erasure.ts';
import { BLOB_LOCK, SharedLock } from '../locks.ts';
import { partsOf } from '../tables.ts';
import { DIALECT, rowsIn } from './cold-operations.ts';
import { type Db, openDatabase } from './database.ts';
import { deletionsOf, unnamedBlobs } from './deletions.ts';
import type { EntryRow } from './entry-row.ts';
import { ErasureKey } from './erased-keys.ts';
import { LaneHeads } from './lanes.ts';
import { noteErasure, purgeBeside, whileAlone } from './vacuum.ts';

/** Transactions of other processes are short. */
const BUSY_MS = 30_000;

/**
 * Opens what erases people, with a connection of its own, beside a gateway or without one.
 * @param dir a data folder with a spool
 * @throws {SpoolUnusable}
 */
export function openEraser(dir: string): Eraser {
  const db = openDatabase(join(dir, 'spool.db'));
  db.pragma(`busy_timeout = ${BUSY_MS}`);
  return eraserOf(new SqliteSite(dir, db));
}

class SqliteSite implements ErasureSite {
  readonly dialect = DIALECT;
  readonly reasons = ['entries', 'moves'];
  readonly counts = ['sender_counts'];
  readonly #dir: string;
  readonly #db: Db;
  readonly #entries: EntryEraser;
  readonly #rowsOf;
  readonly #unnamed;
  #hasErased = false;

  constructor(dir: string, db: Db) {
    this.#dir = dir;
    this.#db = db;
    const key = () => ErasureKey.readOrMake(dir);
    this.#entries = new EntryEraser(db, key);
    this.#rowsOf = rowsIn(db);
    this.#unnamed = unnamedBlobs(db);
    db.function('opt_out_hash', (shop: string, lane: string) => key().optOut(shop, lane));
  }

  /** Each list of several statements is a transaction. */
  run: Run = async (begin) => {
    const operation = begin();
    let step = operation.next([]);
    while (step.done !== true) {
      const list = step.value;
      const make = () => list.map(this.#rowsOf);
      step = operation.next(list.length > 1 ? this.#db.transaction(make).immediate() : make());
      await nextTurn();
    }
    return step.value;
  };

  begin(): Promise<void> {
    ErasureKey.readOrMake(this.#dir);
    noteErasure(this.#db);
    this.#hasErased = true;
    return Promise.resolve();
  }

  hashOf(identity: string): Promise<string> {
    const hash = ErasureKey.readOrMake(this.#dir).hash('person', identity);
    return Promise.resolve(Buffer.from(hash).toString('hex'));
  }

  async eraseEntries(entries: readonly TracedEntry[], inFlight: 'keep' | 'take') {
    await nextTurn();
    return this.#entries.erase(entries, inFlight, Date.now());
  }

  /** One process at a time writes. */
  lockNames = () => [];

  async deleteBlobs(names: readonly string[]): Promise<number> {
    const unnamed = this.#unnamed(names);
    for (const name of unnamed) await rm(join(this.#dir, 'blobs', name), { force: true });
    await durableFiles.syncFolder(join(this.#dir, 'blobs'));
    return unnamed.length;
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
        if (noneWrites) await this.deleteBlobs(await namesIn(join(this.#dir, 'blobs')));
      });
    });
  }

  async purge() {
    if (this.#hasErased) noteErasure(this.#db);
    this.#hasErased = false;
    return { 'spool.db': await purgeBeside(this.#db, this.#dir) };
  }

  close(): void {
    this.#db.close();
  }
}

/** Erases entries. `ErasureSite` documents it. */
export class EntryEraser {
  readonly #db: Db;
  readonly #key: () => ErasureKey;
  readonly #sql;
  readonly #lanes;

  /** @param key returns the key, created when the first hash is stored */
  constructor(db: Db, key: () => ErasureKey) {
    this.#db = db;
    this.#key = key;
    this.#sql = prepare(db);
    this.#lanes = new LaneHeads(db);
  }

  erase(entries: readonly TracedEntry[], inFlight: 'keep' | 'take', now: number): TracedEntry[] {
    const key = this.#key();
    const erase = () =>
      entries.filter(({ seq, id }) => {
        const row = this.#sql.entry.get(seq, id);
        if (row === undefined) return false;
        const isInFlight = row.state === 'delivering' && (row.lease_until ?? 0) >= now;
        if (isInFlight && inFlight === 'keep') return true;
        this.#erase(row, key);
        return false;
      });
    return this.#db.transaction(erase).immediate();
  }

  #erase(row: EntryRow, key: ErasureKey): void {
    const { seq, id, shop, channel, remote_id: remoteId } = row;
    this.#sql.rememberKey.run(key.hash('dedup', row.dedup_hash), id);
    if (channel === 'email') {
      this.#sql.rememberKey.run(key.hash('remote', `${shop}\0${remoteId}`), id);
    }
    for (const step of this.#sql.steps) step.run({ seq, id });
    this.#lanes.refresh(row);
  }
}

function prepare(db: Db) {
  const steps = [
    `INSERT OR IGNORE INTO erasure_rest (kind, name)
     SELECT 'media', media_id FROM media WHERE seq = @seq
     UNION SELECT 'blob', blob FROM uploads WHERE entry = @id
     UNION SELECT 'blob', blob FROM entries WHERE seq = @seq AND blob IS NOT NULL
     UNION SELECT 'message', platform_message_id FROM entries
       WHERE seq = @seq AND platform_message_id IS NOT NULL`,
    `DELETE FROM uploads WHERE entry = @id`,
    ...partsOf('sqlite', 'raw').map((table) => `DELETE FROM ${table} WHERE seq = @seq`),
    ...deletionsOf('(SELECT @seq)'),
  ];
  return {
    // With the id, too: SQLite reuses the row number of a deleted last row.
    entry: db.prepare<
      [number, string],
      EntryRow & { lane_hash: number; lease_until: number | null }
    >(`SELECT * FROM entries WHERE seq = ? AND id = ?`),
    rememberKey: db.prepare(`INSERT OR IGNORE INTO erased_keys (hash, entry) VALUES (?, ?)`),
    steps: steps.map((sql) => db.prepare<[{ seq: number; id: string }]>(sql)),
  };
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
