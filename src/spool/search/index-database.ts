import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf } from '../../runtime/error-code.ts';

export type IndexDb = Database.Database;

/** Of the schema and of what `search-terms.ts` makes: another one means a new index. */
const VERSION = 1;

/**
 * `words`: the terms of each entry, by its seq. It holds no text: what is shown is in `cards`.
 * The lengths of beginnings that are looked up at once; of a longer one all words are gathered.
 * `spans`: between which times the entries of 1024 seqs came, so that a time is found by seq.
 */
const SCHEMA = `
  CREATE VIRTUAL TABLE words USING fts5(
    terms, content='', contentless_delete=1, detail=none, prefix='1 2 3 4 5 6 7 8 9 10',
    tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_\`{|}~'"
  );
  CREATE TABLE cards (
    seq INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, received_at INTEGER NOT NULL,
    "from" TEXT NOT NULL, "to" TEXT NOT NULL, subject TEXT NOT NULL, more TEXT NOT NULL
  ) STRICT;
  CREATE TABLE spans (
    span INTEGER PRIMARY KEY, oldest INTEGER NOT NULL, newest INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE shops (no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;
const TABLES = ['words', 'cards', 'spans', 'shops', 'marks'];

/**
 * In a folder of its own: SQLite syncs the folder of a log without looking at the answer, and a sync of
 * the data folder that fails must be seen.
 */
export const indexFileOf = (dataDir: string): string => join(dataDir, 'search', 'search.db');

/**
 * Opens the index; what is damaged or of another version is made anew, for everything in it is
 * derived from the spool.
 */
export function openIndex(file: string): IndexDb {
  try {
    return openAsItIs(file);
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeIndex(file);
    return openAsItIs(file);
  }
}

function openAsItIs(file: string): IndexDb {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const db = new Database(file, { timeout: 5000 });
  try {
    db.pragma('page_size = 8192');
    db.pragma('journal_mode = WAL');
    // What a power cut takes is indexed again.
    db.pragma('synchronous = NORMAL');
    db.pragma('temp_store = MEMORY');
    db.pragma('cache_size = -16384');
    if (versionOf(db) !== VERSION) db.transaction(() => makeAnew(db)).immediate();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const versionOf = (db: IndexDb): number => Number(db.pragma('user_version', { simple: true }));

function makeAnew(db: IndexDb): void {
  // Another process was first.
  if (versionOf(db) === VERSION) return;
  for (const table of TABLES) db.exec(`DROP TABLE IF EXISTS ${table}`);
  db.exec(SCHEMA);
  db.pragma(`user_version = ${VERSION}`);
}

/** Nobody may have it open. */
export function removeIndex(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(codeOf(error));
