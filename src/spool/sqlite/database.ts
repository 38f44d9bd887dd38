import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf } from '../../runtime/error-code.ts';
import { SpoolUnusable, spoolUnusable } from '../errors.ts';
import { isServed } from '../locks.ts';
import { SPOOL_SCHEMA } from './schema.ts';
import { newestOf, numberOf, updateSchema } from '../../runtime/sqlite-schema.ts';
import { isDiskFull, renewFile, rewriteFile } from '../../runtime/durable-files.ts';
import { BALLAST_FILE } from '../ballast.ts';

export type Db = Database.Database;

/** Above this size a full structural check at every start would take too long. */
const CHECK_UP_TO_BYTES = 256 * 1024 * 1024;
/**
 * An upper limit only: checkpoint-worker.ts runs checkpoints beside the commits. Smaller than the
 * ballast, so that deleting the ballast resolves a full disk.
 */
export const MAX_LOG_BYTES = 32 * 1024 * 1024;

const logOf = (file: string): string => `${file}-wal`;

export const logBytes = (file: string): number =>
  statSync(logOf(file), { throwIfNoEntry: false })?.size ?? 0;

/** How much the WAL may grow until it is written from its start again. */
export const logGrowthBytes = (file: string): number => Math.max(0, MAX_LOG_BYTES - logBytes(file));

/**
 * Opens the spool's database and updates its schema.
 *
 * `synchronous = FULL` is set on every open and read back: an existing WAL database opens with
 * NORMAL, which survives a killed process but not a power cut, so acknowledged messages could be
 * lost.
 * @param role `owner`: the gateway; it first makes durable what a process that died left
 * @throws {SpoolUnusable} damaged, not a spool, or its schema is not supported
 */
export function openDatabase(file: string, role: 'owner' | 'beside' = 'beside'): Db {
  let db: Db | undefined;
  try {
    secureLog(file, role);
    db = new Database(file, { timeout: 5000 });
    // A small email fills most of a 4 KiB page; two with neighbouring rows fit into 8 KiB.
    db.pragma('page_size = 8192');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = OFF');
    // Deleted and replaced data is overwritten: docs/decisions/0014-erasing-data-from-disk.md.
    db.pragma('secure_delete = ON');
    db.pragma('temp_store = MEMORY');
    db.pragma('cache_size = -16384');
    // Automatic checkpoints are off because SQLite ignores their fsync errors: serve-store.ts.
    db.pragma('wal_autocheckpoint = 0');
    db.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
    assertDurable(db);
    const isOlder = numberOf(db) > 0 && numberOf(db) < newestOf(SPOOL_SCHEMA);
    if (isOlder && role === 'beside' && isServed(dirname(file))) throw servedByAnOlderVersion(file);
    const mismatch = updateSchema(db, file, SPOOL_SCHEMA);
    if (mismatch !== undefined) throw new SpoolUnusable(mismatch);
    assertWhole(db, file);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof SpoolUnusable) throw error;
    throw spoolUnusable(file, error);
  }
}

const LOOK_EVERY_MS = 1;
const WAIT_FOR_LOCK_MS = 5000;

/**
 * Begins a transaction, and waits while another connection has the lock. SQLite itself looks for it
 * after ever longer sleeps, at last of 100 ms (sqlite3.c, sqliteDefaultBusyCallback): a command that
 * commits again and again would have it again before the gateway looks.
 */
export function whenFree<Result>(db: Db, transaction: () => Result): Result {
  db.pragma(`busy_timeout = ${LOOK_EVERY_MS}`);
  const until = performance.now() + WAIT_FOR_LOCK_MS;
  for (;;) {
    try {
      return transaction();
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || performance.now() > until) throw error;
    }
  }
}

/** A step may remove what the running program still uses. */
const servedByAnOlderVersion = (file: string): SpoolUnusable =>
  new SpoolUnusable(
    `${file} is used by a gateway of an older version. Restart the gateway with this version first.`,
  );

function assertDurable(db: Db): void {
  const mode = db.pragma('journal_mode', { simple: true });
  const synchronous = db.pragma('synchronous', { simple: true });
  if (mode !== 'wal' || synchronous !== 2) {
    throw new SpoolUnusable(
      `the database refused write-ahead logging with full sync (journal_mode ${String(mode)}, ` +
        `synchronous ${String(synchronous)}); is the data folder on a network file system?`,
    );
  }
}

/** Checked here, because a truncated file opens and fails only at the first missing page. */
function assertWhole(db: Db, file: string): void {
  const pages = Number(db.pragma('page_count', { simple: true }));
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  if (pages * pageBytes > CHECK_UP_TO_BYTES) {
    db.pragma('wal_checkpoint(PASSIVE)');
    if (statSync(file).size < pages * pageBytes) {
      throw new SpoolUnusable(`${file} is shorter than it says: it was cut off.`);
    }
    return;
  }
  const verdict = db.pragma('quick_check(1)', { simple: true });
  if (verdict !== 'ok') {
    throw new SpoolUnusable(`${file} is damaged (${String(verdict).split('\n')[0] ?? ''}).`);
  }
}

/** For commands that use the database briefly. */
const WAIT_MS = 2000;

/**
 * Makes the WAL durable after an unclean shutdown, before anyone reads the database. What can be
 * read of it may exist in memory only: after a failed fsync the kernel has dropped the pages that
 * it could not write, or keeps them only until it needs the memory. So the WAL is copied to a new
 * file, which is fsynced and renamed over the old one, its folder is fsynced, and then the WAL is
 * checkpointed. Each step has to succeed (docs/decisions/0020-fsync-failures.md).
 *
 * A clean shutdown leaves no WAL. An owner always does this; a process beside it only when no other
 * has the database open, because the one that opened it first has done it.
 * @throws a system error or one of SQLite's
 */
export function secureLog(file: string, role: 'owner' | 'beside'): void {
  if (logBytes(file) === 0) return;
  try {
    secure(file, role);
  } catch (error) {
    const isFull = isDiskFull(error) || codeOf(error) === 'SQLITE_FULL';
    if (role === 'beside' || !isFull) throw error;
    // The ballast is given up: waiting entries are delivered even when the disk is full.
    rmSync(join(dirname(file), BALLAST_FILE), { force: true });
    secure(file, role);
  }
}

function secure(file: string, role: 'owner' | 'beside'): void {
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
  if (role === 'owner') secureBesideCommands(file);
}

/**
 * Takes the database exclusively, so that SQLite locks out all other connections, readers too,
 * until this one closes. The mode must be set before anything has read the database: after another
 * pragma it locks out nobody.
 */
export function hasItAlone(db: Database.Database): boolean {
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
function secureBesideCommands(file: string): void {
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
