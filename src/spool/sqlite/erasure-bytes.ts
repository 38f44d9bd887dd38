import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SpoolUnavailable } from '../errors.ts';
import type { Db } from './database.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** The mark that nothing was ever deleted in this file without being overwritten. */
const MARK = 'secure_deletion';
/** A rewrite of so much takes a second or two: as long as acknowledgements of a gateway may wait. */
const REWRITE_BESIDE_GATEWAY_BYTES = 256 * 1024 * 1024;
const READ_BYTES = 4 * 1024 * 1024;
const EMPTIED_WITHIN_MS = 60_000;
const CHECKPOINT_AGAIN_AFTER_MS = 100;

/** `postponed`: the file has to be written anew, which takes too long beside a running gateway. */
export type Purged = 'clean' | 'rewritten' | 'postponed';

export interface PurgeOptions {
  readonly occursIn: (text: string) => boolean;
  /** A gateway has the file open too. */
  readonly isServed: boolean;
}

/**
 * Makes deleted bytes vanish from the file and its log. The rows were overwritten as they were
 * deleted (`secure_delete`). Two things remain: what was deleted before that was on, and copies that
 * SQLite leaves in the unused part of a page when it moves rows to another one. The first is known by a mark,
 * the second is looked for; either way the file is then written anew (VACUUM).
 * @throws {SpoolUnavailable} there is no room for a second copy, or others use the file all the time
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
 * Empties the write-ahead log. A try waits for others' transactions as long as `busy_timeout`, but
 * for another checkpoint, a running gateway's, not at all.
 * @throws {SpoolUnavailable} somebody has been reading all the time
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

/** Whether the person is named in a part of the file that no row lives in. */
function hasLeftovers(db: Db, occursIn: (text: string) => boolean): boolean {
  const hits = [...pagesNaming(db, occursIn)];
  if (hits.length === 0) return false;
  if (hits.some(({ page, no }) => occursIn(unusedPart(page, no)))) return true;
  // Named on a page that belongs to no table: it is free.
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

/** Of a page of a b-tree: what lies between its pointers and its cells (SQLite file format §1.6). */
function unusedPart(page: Buffer, no: number): string {
  const header = no === 1 ? 100 : 0;
  const type = page[header] ?? 0;
  if (![2, 5, 10, 13].includes(type)) return '';
  const cells = page.readUInt16BE(header + 3);
  const start = header + (type === 2 || type === 5 ? 12 : 8) + 2 * cells;
  // 0 stands for 65536.
  const end = page.readUInt16BE(header + 5) || page.length;
  return page.toString('latin1', start, Math.min(end, page.length));
}
