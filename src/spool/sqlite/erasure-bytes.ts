import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Purged } from '../erasure.ts';
import { SpoolUnavailable } from '../errors.ts';
import type { Db } from './database.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** The mark that nothing in this file was ever deleted without being overwritten. */
const MARK = 'secure_deletion';
/** Rewriting this much takes 1 to 2 s, as long as a gateway's acknowledgements may wait. */
const REWRITE_BESIDE_GATEWAY_BYTES = 256 * 1024 * 1024;
const READ_BYTES = 4 * 1024 * 1024;
const EMPTIED_WITHIN_MS = 60_000;
const CHECKPOINT_AGAIN_AFTER_MS = 100;

interface PurgeOptions {
  readonly occursIn: (text: string) => boolean;
  /** A gateway has the file open too. */
  readonly isServed: boolean;
}

/**
 * Removes deleted bytes from the file and its WAL. Rows are overwritten when they are deleted
 * (`secure_delete`). Two things remain: rows that were deleted before that was enabled, and copies
 * that SQLite leaves in the unused part of a page when it moves rows to another page. A mark shows
 * whether the former can exist; the file is searched for the latter. In either case the file is
 * rewritten (VACUUM).
 * @throws {SpoolUnavailable} there is no space for a second copy, or other processes use the file
 * all the time
 */
export async function purge(db: Db, { occursIn, isServed }: PurgeOptions): Promise<Purged> {
  await truncateLog(db);
  const isMarked = db.prepare(`SELECT 1 FROM marks WHERE name = ?`).get(MARK) !== undefined;
  if (isMarked && !hasLeftovers(db, occursIn)) return 'clean';
  const pages = Number(db.pragma('page_count', { simple: true }));
  const bytes = pages * Number(db.pragma('page_size', { simple: true }));
  if (isServed && bytes > REWRITE_BESIDE_GATEWAY_BYTES) return 'postponed';
  if (bytes > REWRITE_BESIDE_GATEWAY_BYTES) db.pragma('temp_store = FILE');
  rewrite(db);
  db.prepare(`INSERT OR IGNORE INTO marks (name, at) VALUES (?, 0)`).run(MARK);
  await truncateLog(db);
  return 'rewritten';
}

function rewrite(db: Db): void {
  try {
    db.exec('VACUUM');
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'SQLITE_FULL' && code !== 'SQLITE_BUSY') throw error;
    throw new SpoolUnavailable(
      code === 'SQLITE_FULL'
        ? `there is no room to write ${db.name} anew: make room for a second copy, and run this again`
        : `${db.name} was in use all the time, and could not be written anew: run this again`,
      { cause: error },
    );
  }
}

/**
 * Truncates the WAL. Each try waits up to `busy_timeout` for other transactions, but does not wait
 * for another checkpoint, such as a running gateway's; therefore it is repeated.
 * @throws {SpoolUnavailable} another connection was reading all the time
 */
export async function truncateLog(db: Db): Promise<void> {
  const until = performance.now() + EMPTIED_WITHIN_MS;
  do {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    if (result?.busy === 0) return;
    await delay(CHECKPOINT_AGAIN_AFTER_MS);
  } while (performance.now() < until);
  throw new SpoolUnavailable(
    `the log of ${db.name} could not be emptied: another program reads it all the time`,
  );
}

/** Whether the person is named in a part of the file that no row occupies. */
function hasLeftovers(db: Db, occursIn: (text: string) => boolean): boolean {
  const hits = [...pagesNaming(db, occursIn)];
  if (hits.length === 0) return false;
  if (hits.some(({ page, no }) => occursIn(unusedPart(page, no)))) return true;
  // A page that names the person and belongs to no table is a free page.
  const wanted = new Set(hits.map(({ no }) => no));
  for (const { pageno } of db
    .prepare<[], { pageno: number }>(`SELECT pageno FROM dbstat`)
    .iterate()) {
    wanted.delete(pageno);
  }
  return wanted.size > 0;
}

interface NamingPage {
  readonly no: number;
  readonly page: Buffer;
}

function* pagesNaming(db: Db, occursIn: (text: string) => boolean): Generator<NamingPage> {
  const size = Number(db.pragma('page_size', { simple: true }));
  const buffer = Buffer.alloc(READ_BYTES);
  const file = openSync(db.name, 'r');
  try {
    for (let at = 0; ;) {
      const length = readSync(file, buffer, 0, READ_BYTES, at);
      if (length === 0) return;
      if (occursIn(buffer.toString('latin1', 0, length))) {
        for (let offset = 0; offset + size <= length; offset += size) {
          const page = Buffer.from(buffer.subarray(offset, offset + size));
          if (occursIn(page.toString('latin1'))) yield { no: (at + offset) / size + 1, page };
        }
      }
      at += length;
    }
  } finally {
    closeSync(file);
  }
}

/** Unallocated part of a b-tree page: between pointers and cells (SQLite file format §1.6). */
function unusedPart(page: Buffer, no: number): string {
  const header = no === 1 ? 100 : 0;
  const type = page[header] ?? 0;
  if (![2, 5, 10, 13].includes(type)) return '';
  const cells = page.readUInt16BE(header + 3);
  const start = header + (type === 2 || type === 5 ? 12 : 8) + 2 * cells;
  // 0 means 65536.
  const end = page.readUInt16BE(header + 5) || page.length;
  return page.toString('latin1', start, Math.min(end, page.length));
}
