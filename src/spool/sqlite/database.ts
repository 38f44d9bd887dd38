import { codeOf } from '../../runtime/error-code.ts';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { databaseTrouble, troubleInWords } from '../../runtime/set-up-trouble.ts';
import { SpoolUnusable } from '../errors.ts';
import { applyMigrations, MIGRATIONS } from './migrations.ts';
import { secureLog } from './unclean-end.ts';

export type Db = Database.Database;

/** Above this size a full structural check at every start would take too long. */
const CHECK_UP_TO_BYTES = 256 * 1024 * 1024;
/**
 * An upper limit only: checkpoint-worker.ts runs checkpoints beside the commits. Smaller than the
 * ballast, so that deleting the ballast resolves a full disk.
 */
export const MAX_LOG_BYTES = 32 * 1024 * 1024;

export const logBytes = (file: string): number =>
  statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/** How much the WAL may grow until it is written from its start again. */
export const logGrowthBytes = (file: string): number => Math.max(0, MAX_LOG_BYTES - logBytes(file));

/**
 * Opens the spool's database and updates its schema.
 *
 * `synchronous = FULL` is set on every open and read back: an existing WAL database opens with
 * NORMAL, which survives a killed process but not a power cut, so acknowledged messages could be
 * lost.
 * @param role `owner`: the gateway; it first makes durable what a process that died left
 * @throws {SpoolUnusable} damaged, not a spool, or written by a newer version
 */
export function openDatabase(file: string, role: 'owner' | 'guest' = 'guest'): Db {
  let db: Db | undefined;
  try {
    secureLog(file, role);
    db = new Database(file, { timeout: 5000 });
    // A small email fills most of a 4 KiB page; two with neighbouring rows fit into 8 KiB.
    db.pragma('page_size = 8192');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = OFF');
    // Deleted and replaced data is overwritten: docs/decisions/0014-how-bytes-vanish.md.
    db.pragma('secure_delete = ON');
    db.pragma('temp_store = MEMORY');
    db.pragma('cache_size = -16384');
    // Automatic checkpoints are off because SQLite ignores their fsync errors: store-worker.ts.
    db.pragma('wal_autocheckpoint = 0');
    db.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
    assertDurable(db);
    migrate(db, file);
    assertWhole(db, file);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof SpoolUnusable) throw error;
    throw spoolUnusable(file, error);
  }
}

/** The error for a database of the data folder that cannot be opened. */
export function spoolUnusable(file: string, cause: unknown): SpoolUnusable {
  const trouble = databaseTrouble(file, cause, { dataDir: dirname(file) });
  if (trouble !== undefined) {
    return new SpoolUnusable(troubleInWords(trouble), { cause, mayPass: trouble.mayPass });
  }
  const reason = cause instanceof Error ? cause.message : 'unknown';
  if (codeOf(cause).startsWith('SQLITE_BUSY')) {
    return new SpoolUnusable(`${file} is kept busy by another process (${reason})`, {
      cause,
      mayPass: true,
    });
  }
  return new SpoolUnusable(
    `${file} cannot be used as a spool: ${reason}. ` +
      'Move it away to start with an empty one, or restore a backup.',
    { cause },
  );
}

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

function migrate(db: Db, file: string): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > MIGRATIONS.length) {
    throw new SpoolUnusable(
      `${file} was written by a newer version (schema ${version}; this program knows ` +
        `${MIGRATIONS.length}). Run that version, or restore the backup from before the update.`,
    );
  }
  if (version === MIGRATIONS.length) return;
  // Another process may be migrating: the version is read again under the write lock.
  db.transaction(() => {
    const current = Number(db.pragma('user_version', { simple: true }));
    applyMigrations(db, current);
  }).immediate();
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
