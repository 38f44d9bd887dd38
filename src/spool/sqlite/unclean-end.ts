import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { isDiskFull, renewFile, rewriteFile } from '../../runtime/durable-files.ts';
import { BALLAST_FILE } from '../ballast.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** For commands that look at the database for a moment. */
const WAIT_MS = 2000;

/**
 * What is done with the log of a process that did not end in order, before anybody reads it. What
 * can be read of it may be in memory only: when its fsync failed, the kernel has dropped the pages
 * that it could not write, or shows them until it needs the memory. So the log is copied to a new file,
 * which is synced and renamed over it, its folder too; then it is copied back into the database.
 * Each step has to succeed (docs/decisions/0020-a-log-that-is-not-trusted.md).
 *
 * A process that ends in order leaves no log. An owner always does it; a guest when nobody else has
 * the database open, since whoever opened it first has done it.
 * @throws a system error or one of SQLite's
 */
export function secureLog(file: string, role: 'owner' | 'guest'): void {
  if ((statSync(logOf(file), { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    secure(file, role);
  } catch (error) {
    const isFull = isDiskFull(error) || codeOf(error) === 'SQLITE_FULL';
    if (role === 'guest' || !isFull) throw error;
    // What waits is delivered from a full disk too.
    rmSync(join(dirname(file), BALLAST_FILE), { force: true });
    secure(file, role);
  }
}

const logOf = (file: string): string => `${file}-wal`;

function secure(file: string, role: 'owner' | 'guest'): void {
  const db = new Database(file, { timeout: role === 'owner' ? WAIT_MS : 0 });
  try {
    if (hasItAlone(db)) {
      db.pragma('synchronous = FULL');
      // This connection keeps the old file open, and reads the same bytes in it.
      renewFile(logOf(file));
      emptyLog(db);
      return;
    }
  } finally {
    // When all of the log is in the database, its file goes with the last connection.
    db.close();
  }
  if (role === 'owner') secureBesideGuests(file);
}

/**
 * SQLite then keeps everybody else out until the connection closes, readers too. Only when the mode is
 * set before anything has read the database: another pragma before it, and nobody is kept out.
 */
function hasItAlone(db: Database.Database): boolean {
  db.pragma('locking_mode = EXCLUSIVE');
  try {
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    return true;
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}

/**
 * A command that outlived the gateway (`queue list --watch`) has the log open, and would go on
 * reading a file without a name: each byte is written over itself, while nobody else may write.
 */
function secureBesideGuests(file: string): void {
  const db = new Database(file, { timeout: 10 * WAIT_MS });
  try {
    db.pragma('synchronous = FULL');
    db.pragma('wal_autocheckpoint = 0');
    db.exec('BEGIN IMMEDIATE');
    rewriteFile(logOf(file));
    db.exec('COMMIT');
    emptyLog(db);
  } finally {
    db.close();
  }
}

/** Readers may keep the log from being emptied, not from being copied back and synced. */
function emptyLog(db: Database.Database): void {
  db.pragma('wal_checkpoint(TRUNCATE)');
}
