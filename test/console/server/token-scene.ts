import { join } from 'node:path';
import Database from 'better-sqlite3';

/** Changes the database of a running gateway, as time or another process would. */
export function inSpool(dataDir: string, sql: string): void {
  const db = new Database(join(dataDir, 'spool.db'));
  try {
    db.prepare(sql).run();
  } finally {
    db.close();
  }
}
