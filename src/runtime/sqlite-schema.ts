import type Database from 'better-sqlite3';

/** The tables of an SQLite database. `PRAGMA user_version` has the number of its schema. */
export interface SqliteSchema {
  /** The oldest schema that is supported. */
  readonly baseline: { readonly number: number; readonly sql: string };
  /** What came after it: each step raises the number by one. A released step is never edited. */
  readonly steps: readonly string[];
}

/** The commit whose databases have the baseline schemas, also that of PostgreSQL. */
export const OLDEST_BUILD = '152f18e4';

/** The number of the newest schema. */
export const newestOf = ({ baseline, steps }: SqliteSchema): number =>
  baseline.number + steps.length;

/** The number of a database's schema; 0: it is empty. */
export const numberOf = (db: Database.Database): number =>
  Number(db.pragma('user_version', { simple: true }));

/** Why this program cannot use a database with this schema, and what to do; undefined when it can. */
export function mismatchOf(
  found: number,
  schema: SqliteSchema,
): { readonly why: string; readonly remedy: string } | undefined {
  const [oldest, newest] = [schema.baseline.number, newestOf(schema)];
  if (found > newest) {
    return {
      why: `written by a newer version (schema ${found}; this version supports ${newest})`,
      remedy: 'run the newer version, or restore the backup from before the update',
    };
  }
  if (found > 0 && found < oldest) {
    return {
      why: `written by an older version (schema ${found}; this version supports ${oldest} and later)`,
      remedy: `start build ${OLDEST_BUILD} once on this folder, then this one`,
    };
  }
  return undefined;
}

/**
 * Makes the tables in an empty database, and applies the missing steps to another one, in one transaction.
 * @param file its path, for the message
 * @returns why the database cannot be used: its schema is newer, or older than the baseline
 */
export function updateSchema(
  db: Database.Database,
  file: string,
  schema: SqliteSchema,
): string | undefined {
  const newest = newestOf(schema);
  const { baseline, steps } = schema;
  const found = numberOf(db);
  const mismatch = mismatchOf(found, schema);
  if (mismatch !== undefined) return `${file} was ${mismatch.why}: ${mismatch.remedy}`;
  if (found === newest) return undefined;
  db.transaction(() => {
    // Another process may have updated it meanwhile, also to a newer schema.
    const current = numberOf(db);
    if (current >= newest) return;
    if (current === 0) db.exec(baseline.sql);
    for (const sql of steps.slice(Math.max(0, current - baseline.number))) db.exec(sql);
    db.pragma(`user_version = ${newest}`);
  }).immediate();
  return undefined;
}
