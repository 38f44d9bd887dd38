import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { BlobName } from '../../domain/ids.ts';

/** A file that rows of a spool reference, with its stored size. */
export interface NamedBlob {
  readonly blob: BlobName;
  readonly size: number;
}

/**
 * Copies a database that other processes may be writing, in one read transaction, which in WAL mode
 * blocks no writer (SQLite, "VACUUM INTO").
 * @param to a file that does not exist yet
 * @returns its size in bytes; not yet synced to the disk
 */
export function copyDatabase(from: string, to: string): number {
  const db = new Database(from, { readonly: true, fileMustExist: true, timeout: 5000 });
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
  return statSync(to).size;
}

/** The first structural error of a database (SQLite, "PRAGMA integrity_check"), if any. */
export function damageOf(file: string): string | undefined {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const verdict = db.pragma('integrity_check(1)', { simple: true });
    return verdict === 'ok' ? undefined : String(verdict);
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read';
  } finally {
    db.close();
  }
}

/** The contents of a copied spool. */
export function contentsOf(file: string): { schema: number; entries: number; blobs: NamedBlob[] } {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const [count] = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM entries').all();
    return {
      schema: Number(db.pragma('user_version', { simple: true })),
      entries: count?.n ?? 0,
      blobs: db
        .prepare<[], NamedBlob>(
          `SELECT blob, raw_size AS size FROM entries WHERE blob IS NOT NULL
           UNION SELECT blob, size FROM uploads`,
        )
        .all(),
    };
  } finally {
    db.close();
  }
}
