import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { numberOf } from '../../runtime/sqlite-schema.ts';
import type { NamedBlob } from '../fleet.ts';

/** The files that rows of a spool reference, with their stored sizes. */
export const NAMED_BLOBS = `SELECT blob, raw_size AS size FROM entries WHERE blob IS NOT NULL
  UNION SELECT blob, size FROM uploads`;

/**
 * Reads a database without changing it.
 * @param timeoutMs how long to wait for another process that has it alone
 */
export function readDatabase<T>(
  file: string,
  timeoutMs: number,
  read: (db: Database.Database) => T,
): T {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: timeoutMs });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

const WAIT_MS = 5000;

/**
 * Copies a database that other processes may be writing, in one read transaction, which in WAL mode
 * blocks no writer (SQLite, "VACUUM INTO").
 * @param to a file that does not exist yet
 * @returns its size in bytes; not yet synced to the disk
 */
export function copyDatabase(from: string, to: string): number {
  readDatabase(from, WAIT_MS, (db) => db.prepare('VACUUM INTO ?').run(to));
  return statSync(to).size;
}

/** The first structural error of a database (SQLite, "PRAGMA integrity_check"), if any. */
export function damageOf(file: string): string | undefined {
  return readDatabase(file, WAIT_MS, (db) => {
    try {
      const verdict = db.pragma('integrity_check(1)', { simple: true });
      return verdict === 'ok' ? undefined : String(verdict);
    } catch (error) {
      return error instanceof Error ? error.message : 'it cannot be read';
    }
  });
}

/** The contents of a copied spool. */
export function contentsOf(file: string): { schema: number; entries: number; blobs: NamedBlob[] } {
  return readDatabase(file, WAIT_MS, (db) => ({
    schema: numberOf(db),
    entries: db.prepare<[], number>('SELECT count(*) FROM entries').pluck().get() ?? 0,
    blobs: db.prepare<[], NamedBlob>(NAMED_BLOBS).all(),
  }));
}
