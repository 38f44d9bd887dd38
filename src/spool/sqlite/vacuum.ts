import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { codeOf } from '../../runtime/error-code.ts';
import type { Purged } from '../erasure.ts';
import { SpoolUnavailable, SpoolUnusable, spoolUnusable } from '../errors.ts';
import { DataFolderLock } from '../locks.ts';
import { secureLog } from './database.ts';

type Db = Database.Database;

/** The mark of a file: 0 when nothing was erased from it since it was rewritten, else a number that each erasure replaces. */
const MARK = 'secure_deletion';
/** Rewriting this much takes 1 to 2 s, as long as a gateway's acknowledgements may wait. */
const REWRITE_BESIDE_GATEWAY_BYTES = 256 * 1024 * 1024;
const EMPTIED_WITHIN_MS = 60_000;
const CHECKPOINT_AGAIN_AFTER_MS = 100;
/** Of a data folder: those that people are erased from. */
const FILES = ['spool.db', join('platform', 'platform.sqlite')];

/** The disk failed. What opens the file for its use explains all else. */
const DISK_FAILED = /^(?:EIO|SQLITE_IOERR)/;

/** Call it before rows of a person are deleted, and after the last one: another process may rewrite the file meanwhile. */
export function noteErasure(db: Db): void {
  const sql = `INSERT OR REPLACE INTO marks (name, at) VALUES (?, 1 + abs(random() >> 12))`;
  db.prepare(sql).run(MARK);
}

/** Rewrites a database of this data folder that was erased from, beside a gateway if it is not too large. */
export const purgeBeside = (db: Db, dir: string): Promise<Purged> =>
  whileAlone(dir, (isAlone) => purge(db, { isServed: !isAlone }));

/**
 * Rewrites what could not be rewritten beside a gateway. Call it in the lock of the data folder, before a start.
 * @throws {SpoolUnusable} the disk failed
 */
export async function purgePostponed(dir: string): Promise<void> {
  for (const file of FILES.map((name) => join(dir, name)).filter((path) => existsSync(path))) {
    let db: Db | undefined;
    try {
      // Closing writes what the log has into the file, but ignores errors: it must find nothing.
      secureLog(file, 'owner');
      db = new Database(file);
      const hasMarks = `SELECT 1 FROM sqlite_master WHERE name = 'marks'`;
      if (db.prepare(hasMarks).get() !== undefined) await purge(db, { isServed: false });
      await truncateLog(db);
    } catch (error) {
      const code = codeOf(error);
      if (DISK_FAILED.test(code)) throw spoolUnusable(file, error);
      // Without room for a second copy, the next start tries again.
      if (code === '' && !(error instanceof SpoolUnavailable)) throw error;
    } finally {
      db?.close();
    }
  }
}

/**
 * Removes deleted bytes from a file that was erased from, and from its WAL. Rows are overwritten when they are
 * deleted (`secure_delete`), but SQLite leaves copies in the unused part of a page when it moves rows to
 * another page.
 * @throws {SpoolUnavailable} there is no space for a second copy, or other processes use the file all the time
 */
async function purge(db: Db, { isServed }: { readonly isServed: boolean }): Promise<Purged> {
  const mark = db
    .prepare<[string], number>(`SELECT at FROM marks WHERE name = ?`)
    .pluck()
    .get(MARK);
  if (mark === 0) return 'clean';
  await truncateLog(db);
  const pages = Number(db.pragma('page_count', { simple: true }));
  const bytes = pages * Number(db.pragma('page_size', { simple: true }));
  if (isServed && bytes > REWRITE_BESIDE_GATEWAY_BYTES) return 'postponed';
  if (bytes > REWRITE_BESIDE_GATEWAY_BYTES) db.pragma('temp_store = FILE');
  rewrite(db);
  // Until then the file has its old pages: the new ones are in the log.
  await truncateLog(db);
  // Another process may have erased meanwhile.
  db.prepare(
    `INSERT INTO marks (name, at) VALUES (?, 0) ON CONFLICT (name) DO UPDATE SET at = 0 WHERE at = ?`,
  ).run(MARK, mark ?? 0);
  return 'rewritten';
}

function rewrite(db: Db): void {
  try {
    db.exec('VACUUM');
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'SQLITE_FULL' && code !== 'SQLITE_BUSY') throw error;
    throw new SpoolUnavailable(
      code === 'SQLITE_FULL'
        ? `there is no room to write ${db.name} anew: make room for a second copy, and run this again`
        : `${db.name} was in use all the time, and could not be written anew: run this again`,
      { cause: error },
    );
  }
}

/**
 * Truncates the WAL. Each try waits up to `busy_timeout` for other transactions, but does not wait
 * for another checkpoint, such as a running gateway's; therefore it is repeated.
 * @throws {SpoolUnavailable} another connection was reading all the time
 */
export async function truncateLog(db: Db): Promise<void> {
  const until = performance.now() + EMPTIED_WITHIN_MS;
  do {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    if (result?.busy === 0) return;
    await delay(CHECKPOINT_AGAIN_AFTER_MS);
  } while (performance.now() < until);
  throw new SpoolUnavailable(
    `the log of ${db.name} could not be emptied: another program reads it all the time`,
  );
}

/** Runs `work` while no gateway can start; `isAlone` is false if one is running. */
export async function whileAlone<T>(
  dir: string,
  work: (isAlone: boolean) => Promise<T>,
): Promise<T> {
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
