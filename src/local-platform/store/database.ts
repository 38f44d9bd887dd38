import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { databaseTrouble } from '../../runtime/database-trouble.ts';
import { SetUpUnusable, troubleInWords } from '../../runtime/set-up-unusable.ts';
import { normalAddress } from '../normal-address.ts';
import { normalPhone } from '../phone-number.ts';
import { MIGRATIONS } from './migrations.ts';

export type Db = Database.Database;

/** The platform's own database cannot be used. */
export class LocalPlatformUnusable extends SetUpUnusable {
  override name = 'LocalPlatformUnusable';
}

/**
 * Opens the database and brings its schema up to date. `synchronous = FULL` is set on every open
 * and read back: an existing WAL database opens at NORMAL, and an answered 201 would not survive
 * a power cut.
 * @throws {LocalPlatformUnusable} damaged, or written by a newer version
 */
export function openDatabase(file: string): Db {
  let db: Db | undefined;
  try {
    db = new Database(file, { timeout: 5000 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // What is deleted or replaced is overwritten: docs/decisions/0014-how-bytes-vanish.md.
    db.pragma('secure_delete = ON');
    db.pragma('cache_size = -16384');
    db.pragma('wal_autocheckpoint = 4000');
    if (db.pragma('synchronous', { simple: true }) !== 2) {
      throw new LocalPlatformUnusable(`${file} refused full synchronous writes`);
    }
    db.function('normal_phone', { deterministic: true }, (text) => normalPhone(String(text)));
    db.function('normal_address', { deterministic: true }, (text) => normalAddress(String(text)));
    migrate(db, file);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof LocalPlatformUnusable) throw error;
    const trouble = databaseTrouble(file, error, { dataDir: dirname(dirname(file)) });
    if (trouble !== undefined) {
      throw new LocalPlatformUnusable(troubleInWords(trouble), {
        cause: error,
        mayPass: trouble.mayPass,
      });
    }
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new LocalPlatformUnusable(`${file} cannot be used: ${reason}`, { cause: error });
  }
}

function migrate(db: Db, file: string): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > MIGRATIONS.length) {
      throw new LocalPlatformUnusable(
        `${file} was written by a newer version (schema ${version}; this program knows ` +
          `${MIGRATIONS.length})`,
      );
    }
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}
