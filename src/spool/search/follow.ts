import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { EntryMeta } from '../entry.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { cardOf, type FullCard } from './entry-card.ts';
import type { IndexDb } from './index-database.ts';
import { IndexEntries, type IndexedRow, stampOf } from './index-entries.ts';

/** Entries of one transaction: others that write the index wait for it, some 20 ms. */
const PORTION = 200;
/** Of a raw form this much is read: a header block is seldom larger. */
const HEAD_BYTES = 64 * 1024;
const LOOKED_AT_ONCE = 1000;

/** An entry of `changes` that asks for the index to be written anew, without what was deleted. */
export const REWRITE = 0;

interface FollowedRow extends IndexedRow {
  readonly blob: string | null;
}

/**
 * Brings the index up with the spool, a portion at a time: new entries by seq, changed and deleted
 * ones by `changes` and by what the attempts of this process report, and once, after a start, by a
 * look at every entry. Where it stands is kept with what it wrote, so nothing is left out and
 * nothing is done twice, whoever else follows meanwhile.
 */
export class Follow {
  readonly #index: IndexDb;
  readonly #entries: IndexEntries;
  readonly #spool: Database.Database;
  readonly #sql;
  readonly #blobFolder: string;
  readonly #reported = new Set<string>();
  /** The seq that the look at every entry has come to; undefined when it is over. */
  #lookedAt: number | undefined = 0;

  constructor(index: IndexDb, spoolFile: string, blobFolder: string) {
    this.#index = index;
    this.#entries = new IndexEntries(index);
    this.#spool = openToRead(spoolFile);
    this.#sql = prepare(this.#spool);
    this.#blobFolder = blobFolder;
  }

  /** Entries that an attempt of this process has settled. */
  report(ids: readonly string[]): void {
    for (const id of ids) this.#reported.add(id);
  }

  /** Entries that the index does not have yet. */
  backlog(): number {
    return Math.max(0, this.#newest() - this.#entries.mark('last'));
  }

  /** One portion. False: there is nothing more to do now. */
  step(): boolean {
    return this.#index
      .transaction(() => {
        const changed = this.#takeChanges();
        const reported = this.#takeReported();
        const added = this.#takeNew();
        const looked = changed || reported || added ? true : this.#lookAround();
        return changed || reported || added || looked;
      })
      .immediate();
  }

  #newest(): number {
    return this.#sql.newest.get()?.seq ?? 0;
  }

  #takeNew(): boolean {
    const last = this.#entries.mark('last');
    const newest = this.#newest();
    // The newest were deleted, and their seqs are given again.
    if (newest < last) this.#entries.setMark('last', newest);
    if (newest <= last) return newest < last;
    const rows = this.#sql.after.all(last, PORTION);
    for (const row of rows) this.#entries.put(row, this.#card(row));
    this.#entries.setMark('last', rows.at(-1)?.seq ?? newest);
    return rows.length === PORTION;
  }

  #takeChanges(): boolean {
    const last = this.#entries.mark('change');
    const rows = this.#sql.changes.all(last, PORTION);
    const first = rows[0];
    if (first === undefined) {
      // Another spool, or an older one from a backup.
      const newest = this.#sql.newestChange.get()?.no ?? 0;
      if (newest >= last) return false;
      this.#entries.setMark('change', newest);
      this.#lookedAt = 0;
      return true;
    }
    // Older ones were swept before they were seen.
    if (first.no > last + 1 && last > 0) this.#lookedAt = 0;
    for (const { seq } of rows) if (seq !== REWRITE) this.#renew(seq);
    this.#entries.setMark('change', rows.at(-1)?.no ?? last);
    if (rows.some(({ seq }) => seq === REWRITE)) this.#entries.setMark('rewrite', 1);
    return rows.length === PORTION;
  }

  #takeReported(): boolean {
    let taken = 0;
    for (const id of this.#reported) {
      const seq = this.#sql.seqOf.get(id)?.seq;
      if (seq !== undefined) this.#renew(seq);
      this.#reported.delete(id);
      taken += 1;
      if (taken === PORTION) return true;
    }
    return false;
  }

  /** What a process that ended did not come to. */
  #lookAround(): boolean {
    if (this.#lookedAt === undefined) return false;
    const rows = this.#entries.stampsAfter(this.#lookedAt, LOOKED_AT_ONCE);
    for (const { seq } of rows) this.#renew(seq);
    this.#lookedAt = rows.at(-1)?.seq;
    return this.#lookedAt !== undefined;
  }

  /** As the spool has it now: indexed again, gone, or as it was. What is new comes in its turn. */
  #renew(seq: number): void {
    const row = this.#sql.one.get(seq);
    if (row === undefined) {
      this.#entries.remove(seq);
      return;
    }
    const stamp = this.#entries.stamp(seq);
    if (stamp === undefined ? seq > this.#entries.mark('last') : stamp === stampOf(row)) return;
    this.#entries.put(row, this.#card(row));
  }

  /** Once the raw form is swept the card stays as it was made of it. */
  #card(row: FollowedRow): FullCard {
    const head = this.#head(row);
    const known = head === undefined ? this.#entries.card(row.seq) : undefined;
    return (
      known ??
      cardOf({
        kind: row.kind,
        channel: row.channel,
        // Written by JSON.stringify of an EntryMeta in `EntryTable.accept`.
        meta: JSON.parse(row.meta) as EntryMeta,
        head: head ?? new Uint8Array(),
      })
    );
  }

  #head({ seq, blob }: FollowedRow): Uint8Array | undefined {
    if (blob === null) return this.#sql.head.get(HEAD_BYTES, seq)?.head;
    try {
      const file = openSync(join(this.#blobFolder, blob), 'r');
      try {
        const head = Buffer.alloc(HEAD_BYTES);
        return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
      } finally {
        closeSync(file);
      }
    } catch (error) {
      // It was swept meanwhile, or somebody deleted it: the spool raises that alarm.
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** What `changes` asked for. */
  rewriteIfAsked(): void {
    if (this.#entries.mark('rewrite') !== 0) this.rewrite();
  }

  /**
   * Writes the index anew: what was deleted is then nowhere in its files. Outside of a transaction;
   * takes as long as half a minute with a million entries.
   */
  rewrite(): void {
    this.#index.exec(`INSERT INTO words (words) VALUES ('optimize')`);
    this.#entries.setMark('rewrite', 0);
    this.#index.exec('VACUUM');
    this.#index.pragma('wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#spool.close();
  }
}

/** A connection for short reads: one that lasts would keep the log from being begun anew. */
export function openToRead(spoolFile: string): Database.Database {
  const db = new Database(spoolFile, { readonly: true, fileMustExist: true, timeout: 5000 });
  db.pragma('cache_size = -8192');
  return db;
}

const COLUMNS = `seq, id, kind, shop, channel, remote_id, received_at, meta, state, reason,
  platform_message_id, conversation_id, blob`;

function prepare(spool: Database.Database) {
  return {
    newest: spool.prepare<[], { seq: number | null }>(`SELECT max(seq) AS seq FROM entries`),
    after: spool.prepare<[number, number], FollowedRow>(
      `SELECT ${COLUMNS} FROM entries WHERE seq > ? ORDER BY seq LIMIT ?`,
    ),
    one: spool.prepare<[number], FollowedRow>(`SELECT ${COLUMNS} FROM entries WHERE seq = ?`),
    seqOf: spool.prepare<[string], { seq: number }>(`SELECT seq FROM entries WHERE id = ?`),
    changes: spool.prepare<[number, number], { no: number; seq: number }>(
      `SELECT no, seq FROM changes WHERE no > ? ORDER BY no LIMIT ?`,
    ),
    newestChange: spool.prepare<[], { no: number | null }>(`SELECT max(no) AS no FROM changes`),
    head: spool.prepare<[number, number], { head: Uint8Array }>(
      `SELECT substr(bytes, 1, ?) AS head FROM raws WHERE seq = ?`,
    ),
  };
}
