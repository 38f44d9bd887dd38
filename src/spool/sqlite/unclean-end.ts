import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { isDiskFull, renewFile, rewriteFile } from '../../runtime/durable-files.ts';
import { BALLAST_FILE } from '../ballast.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** For commands that use the database briefly. */
const WAIT_MS = 2000;

/**
 * Makes the WAL durable after an unclean shutdown, before anyone reads the database. What can be
 * read of it may exist in memory only: after a failed fsync the kernel has dropped the pages that
 * it could not write, or keeps them only until it needs the memory. So the WAL is copied to a new
 * file, which is fsynced and renamed over the old one, its folder is fsynced, and then the WAL is
 * checkpointed. Each step has to succeed (docs/decisions/0020-fsync-failures.md).
 *
 * A clean shutdown leaves no WAL. An owner always does this; a guest only when no other process has
 * the database open, because the process that opened it first has done it.
 * @throws a system error or one of SQLite's
 */
export function secureLog(file: string, role: 'owner' | 'guest'): void {
  if ((statSync(logOf(file), { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    secure(file, role);
  } catch (error) {
    const isFull = isDiskFull(error) || codeOf(error) === 'SQLITE_FULL';
    if (role === 'guest' || !isFull) throw error;
    // The ballast is given up: waiting entries are delivered even when the disk is full.
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
      // This connection keeps the old file open and reads the same bytes from it.
      renewFile(logOf(file));
      emptyLog(db);
      return;
    }
  } finally {
    // After a complete checkpoint the last connection deletes the WAL when it closes.
    db.close();
  }
  if (role === 'owner') secureBesideGuests(file);
}

/**
 * Takes the database exclusively, so that SQLite locks out all other connections, readers too,
 * until this one closes. The mode must be set before anything has read the database: after another
 * pragma it locks out nobody.
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
 * For a command that outlived the gateway (`queue list --watch`) and has the WAL open: after a
 * rename it would keep reading the old file. Instead each byte is overwritten with itself while
 * nobody else can write.
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

/** Readers may prevent truncating the WAL, but not the checkpoint and its fsync. */
function emptyLog(db: Database.Database): void {
  db.pragma('wal_checkpoint(TRUNCATE)');
}
