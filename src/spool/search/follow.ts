import { hash } from 'node:crypto';
import Database from 'better-sqlite3';
import type { IndexDatabase, IndexedRow } from './index-database.ts';

/** Entries per transaction: other writers of the index wait for it, about 50 ms. */
const PORTION = 1000;
/** Deliveries this much older than the last one read are read again: clocks can step back. */
const OVERLAP_MS = 1000;

/**
 * Updates the index from the spool, a portion at a time: new entries by seq; entries that were
 * indexed before their delivery, by the time of delivery; entries that were deleted or got another
 * summary, by `changes`. Nothing else of an entry is indexed, so it is indexed once, or twice when
 * its delivery takes long. The position is stored in the transaction that writes the entries, so
 * nothing is skipped or indexed twice, even when several processes update the index.
 */
export class Follow {
  readonly #index: IndexDatabase;
  readonly #spool: Database.Database;
  readonly #sql;
  /** The newest entry at the previous step, which has had time to be delivered. */
  #seenBefore: number;
  /** From where undelivered entries are checked once, for those that the last process missed. */
  #undeliveredAfter: number | undefined = 0;

  constructor(index: IndexDatabase, spoolFile: string) {
    this.#index = index;
    this.#spool = openToRead(spoolFile);
    this.#sql = prepare(this.#spool);
    this.#seenBefore = this.#newest();
  }

  /** The number of entries that are not indexed yet. */
  backlog(): number {
    return Math.max(0, this.#newest() - this.#index.mark('last'));
  }

  /**
   * Indexes one portion of the entries that the previous step saw: by now most are delivered and
   * are indexed with the ids that the platform assigned. False: there is nothing more to do now.
   */
  step(): boolean {
    const upTo = this.#seenBefore;
    this.#seenBefore = this.#newest();
    return this.#index.transaction(() => this.#work(upTo));
  }

  /** Indexes one portion of all entries, for a command that is about to query. */
  stepNow(): boolean {
    return this.#index.transaction(() => this.#work(this.#newest()));
  }

  close(): void {
    this.#spool.close();
  }

  #work(upTo: number): boolean {
    if (!this.#isOfThisSpool()) this.#index.clear();
    const changed = this.#takeChanges();
    const delivered = this.#takeDelivered();
    const added = this.#takeNew(upTo);
    return changed || delivered || added || this.#lookAround();
  }

  #newest(): number {
    return this.#sql.newest.get() ?? 0;
  }

  /** False: the spool was replaced or restored from a backup, or its changes were swept. */
  #isOfThisSpool(): boolean {
    const [last, change] = [this.#index.mark('last'), this.#index.mark('change')];
    const { first, newest } = this.#sql.rangeOfChanges.get() ?? {};
    if ((newest ?? 0) < change) return false;
    if (typeof first === 'number' && first > change + 1 && last > 0) return false;
    const id = this.#sql.idOf.get(last);
    return id === undefined || partOf(id) === this.#index.mark('last_id');
  }

  #takeNew(upTo: number): boolean {
    const last = this.#index.mark('last');
    const newest = this.#newest();
    if (newest < last) {
      // The newest entries were deleted, and SQLite assigns their seqs again.
      this.#index.removeAfter(newest);
      this.#setLast(newest);
      return true;
    }
    if (upTo <= last) return false;
    const rows = this.#sql.after.all(last, upTo, PORTION);
    for (const row of rows) this.#index.add(row);
    this.#setLast(rows.length === PORTION ? (rows.at(-1)?.seq ?? upTo) : upTo);
    return rows.length === PORTION;
  }

  #setLast(seq: number): void {
    this.#index.setMark('last', seq);
    this.#index.setMark('last_id', partOf(this.#sql.idOf.get(seq) ?? ''));
  }

  #takeChanges(): boolean {
    const rows = this.#sql.changes.all(this.#index.mark('change'), PORTION);
    for (const { seq } of rows) this.#renew(seq);
    const last = rows.at(-1);
    if (last !== undefined) this.#index.setMark('change', last.no);
    return rows.length === PORTION;
  }

  /** Adds the ids from the platform's answer to entries that were indexed before delivery. */
  #takeDelivered(): boolean {
    const { settled: newest } = this.#sql.newestSettled.get() ?? {};
    const from = Math.min(this.#index.mark('settled'), newest ?? 0) - OVERLAP_MS;
    let taken = 0;
    if (this.#index.undeliveredAfter(0, 1).length > 0) {
      for (const { seq, at } of this.#sql.settledSince.iterate(from)) {
        if (!this.#index.isUndelivered(seq) || !this.#takeIfDelivered(seq)) continue;
        taken += 1;
        if (taken < PORTION) continue;
        this.#index.setMark('settled', at);
        return true;
      }
    }
    if (typeof newest === 'number' && newest !== this.#index.mark('settled')) {
      this.#index.setMark('settled', newest);
    }
    return false;
  }

  #lookAround(): boolean {
    if (this.#undeliveredAfter === undefined) return false;
    const seqs = this.#index.undeliveredAfter(this.#undeliveredAfter, PORTION);
    for (const seq of seqs) this.#takeIfDelivered(seq);
    this.#undeliveredAfter = seqs.at(-1);
    return this.#undeliveredAfter !== undefined;
  }

  #takeIfDelivered(seq: number): boolean {
    const row = this.#sql.one.get(seq);
    if (row?.state !== 'delivered') return false;
    this.#index.replace(row);
    return true;
  }

  /** Updates or removes an indexed entry. Entries that are not indexed yet are skipped. */
  #renew(seq: number): void {
    if (seq > this.#index.mark('last')) return;
    const row = this.#sql.one.get(seq);
    if (row === undefined) this.#index.remove(seq);
    else this.#index.replace(row);
  }
}

/** Six bytes of a hash: detect that a deleted entry's seq was given to another entry. */
const partOf = (id: string): number =>
  id === '' ? 0 : hash('sha256', id, 'buffer').readUIntBE(0, 6);

/** A connection for short reads: a long read would keep the WAL from being reset. */
export function openToRead(spoolFile: string): Database.Database {
  const db = new Database(spoolFile, { readonly: true, fileMustExist: true, timeout: 5000 });
  db.pragma('cache_size = -8192');
  return db;
}

const COLUMNS = `seq, id, shop, channel, remote_id, received_at, state, platform_message_id,
  conversation_id, ifnull("from", '') AS "from", ifnull("to", '') AS "to",
  ifnull(subject, '') AS subject, ifnull(more, '') AS more`;
const ENTRIES = `SELECT ${COLUMNS} FROM entries LEFT JOIN summaries USING (seq)`;

function prepare(spool: Database.Database) {
  return {
    newest: spool.prepare<[], number | null>(`SELECT max(seq) FROM entries`).pluck(),
    idOf: spool.prepare<[number], string>(`SELECT id FROM entries WHERE seq = ?`).pluck(),
    after: spool.prepare<[number, number, number], IndexedRow>(
      `${ENTRIES} WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    ),
    one: spool.prepare<[number], IndexedRow>(`${ENTRIES} WHERE seq = ?`),
    changes: spool.prepare<[number, number], { no: number; seq: number }>(
      `SELECT no, seq FROM changes WHERE no > ? ORDER BY no LIMIT ?`,
    ),
    rangeOfChanges: spool.prepare<[], { first: number | null; newest: number | null }>(
      `SELECT (SELECT min(no) FROM changes) AS first, (SELECT max(no) FROM changes) AS newest`,
    ),
    newestSettled: spool.prepare<[], { settled: number | null }>(
      `SELECT max(settled_at) AS settled FROM entries WHERE has_raw = 1 AND settled_at IS NOT NULL`,
    ),
    settledSince: spool.prepare<[number], { seq: number; at: number }>(
      `SELECT seq, settled_at AS at FROM entries
       WHERE has_raw = 1 AND settled_at >= ? ORDER BY settled_at`,
    ),
  };
}
