import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { EntryRow } from '../entry-row.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { entryTermsOf, type SearchedRow, TERMS_VERSION } from '../search-terms.ts';

/** A change rebuilds the index. Raise it, too, when the schema changes. */
const VERSION = TERMS_VERSION;
/** Entries with the same `seq >> SPAN_BITS` share a row of `spans`. */
export const SPAN_BITS = 10;

/**
 * `words`: the terms of each entry, by its seq, without the text. Prefixes of up to three
 * characters have their own lists; for a longer one the lists of its words are merged. Segments are
 * merged sixteen at a time, which writes each entry half as often as FTS5's default of four.
 * `undelivered`: entries that were indexed without the ids that the platform assigns. `spans`: the
 * times of the oldest and newest entry of 1024 seqs, to find the seqs of a time.
 */
const SCHEMA = `
  CREATE VIRTUAL TABLE words USING fts5(
    terms, content='', contentless_delete=1, detail=none, prefix='1 2 3',
    tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_\`{|}~'"
  );
  INSERT INTO words (words, rank) VALUES ('automerge', 16);
  CREATE TABLE undelivered (seq INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE spans (
    span INTEGER PRIMARY KEY, oldest INTEGER NOT NULL, newest INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;
const TABLES = ['words', 'undelivered', 'spans', 'marks'];

/** The columns of an entry that the index depends on, and its summary. */
export type IndexedRow = SearchedRow & Pick<EntryRow, 'seq' | 'received_at' | 'state'>;

/**
 * `last`: the newest seq that was read; `last_id`: a hash of its id; `change`: the last row read of
 * the spool's `changes`; `settled`: the time up to which deliveries were read.
 */
type Mark = 'last' | 'last_id' | 'change' | 'settled';

/**
 * In a folder of its own: SQLite ignores errors when it fsyncs the folder of a WAL, and a failed
 * fsync of the data folder must be noticed.
 */
export const indexFileOf = (dataDir: string): string => join(dataDir, 'search', 'search.db');

/** Deletes the index. No process may have it open. */
export function removeIndex(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(codeOf(error));

/** The writable index. All methods but `transaction` and `rewrite` run in a transaction. */
export class IndexDatabase {
  readonly db: Database.Database;
  readonly #sql;

  /** Opens the index. One of another version is emptied, because all of it is derived from the spool. */
  constructor(file: string) {
    this.db = openDatabase(file);
    this.#sql = prepare(this.db);
  }

  transaction<T>(work: () => T): T {
    return this.db.transaction(work).immediate();
  }

  /** Adds an entry that is not in the index. */
  add(row: IndexedRow): void {
    this.#sql.add.run(row.seq, entryTermsOf(row).join(' '));
    if (row.state !== 'delivered') this.#sql.undelivered.run(row.seq);
    this.#sql.putSpan.run({ span: Math.floor(row.seq / 2 ** SPAN_BITS), at: row.received_at });
  }

  replace(row: IndexedRow): void {
    this.remove(row.seq);
    this.add(row);
  }

  remove(seq: number): void {
    this.#sql.remove.run(seq);
    this.#sql.delivered.run(seq);
  }

  /** Removes the entries after this seq, which the spool no longer has. */
  removeAfter(seq: number): void {
    for (const one of this.#sql.after.all(seq)) this.remove(one);
  }

  isUndelivered(seq: number): boolean {
    return this.#sql.isUndelivered.get(seq) !== undefined;
  }

  undeliveredAfter(seq: number, limit: number): number[] {
    return this.#sql.undeliveredAfter.all(seq, limit);
  }

  mark(name: Mark): number {
    return this.#sql.mark.get(name)?.value ?? 0;
  }

  setMark(name: Mark, value: number): void {
    this.#sql.setMark.run(name, value);
  }

  clear(): void {
    createTables(this.db);
  }

  /**
   * Rewrites the index, so that its files contain nothing of deleted entries. Call it outside a
   * transaction; takes up to half a minute with a million entries.
   */
  rewrite(): void {
    this.db.exec(`INSERT INTO words (words) VALUES ('optimize')`);
    this.db.exec('VACUUM');
    this.db.pragma('wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.db.close();
  }
}

function openDatabase(file: string): Database.Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const db = new Database(file, { timeout: 5000 });
  try {
    db.pragma('page_size = 8192');
    db.pragma('journal_mode = WAL');
    // Entries that a power cut loses are indexed again.
    db.pragma('synchronous = NORMAL');
    db.pragma('temp_store = MEMORY');
    db.pragma('cache_size = -16384');
    const isOurs = () => db.pragma('user_version', { simple: true }) === VERSION;
    // Another process may create them first.
    if (!isOurs()) db.transaction(() => isOurs() || createTables(db)).immediate();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function createTables(db: Database.Database): void {
  for (const table of TABLES) db.exec(`DROP TABLE IF EXISTS ${table}`);
  db.exec(SCHEMA);
  db.pragma(`user_version = ${VERSION}`);
}

function prepare(db: Database.Database) {
  return {
    add: db.prepare(`INSERT INTO words (rowid, terms) VALUES (?, ?)`),
    remove: db.prepare(`DELETE FROM words WHERE rowid = ?`),
    after: db.prepare<[number], number>(`SELECT id FROM words_docsize WHERE id > ?`).pluck(),
    undelivered: db.prepare(`INSERT OR IGNORE INTO undelivered (seq) VALUES (?)`),
    delivered: db.prepare(`DELETE FROM undelivered WHERE seq = ?`),
    isUndelivered: db.prepare<[number]>(`SELECT 1 FROM undelivered WHERE seq = ?`),
    undeliveredAfter: db
      .prepare<[number, number], number>(
        `SELECT seq FROM undelivered WHERE seq > ? ORDER BY seq LIMIT ?`,
      )
      .pluck(),
    putSpan: db.prepare(
      `INSERT INTO spans (span, oldest, newest) VALUES (@span, @at, @at)
       ON CONFLICT (span) DO UPDATE
       SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)
       WHERE excluded.oldest < oldest OR excluded.newest > newest`,
    ),
    mark: db.prepare<[string], { value: number }>(`SELECT value FROM marks WHERE name = ?`),
    setMark: db.prepare(`INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)`),
  };
}
