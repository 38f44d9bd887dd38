import { hash } from 'node:crypto';
import type { EntryState } from '../../domain/entry-state.ts';
import type { EntryRow } from '../sqlite/entry-row.ts';
import type { FullCard } from './entry-card.ts';
import type { IndexDb } from './index-database.ts';
import { filterTerm, reasonTerm, termsOf } from './search-terms.ts';

/** Entries with a `seq >> SPAN_BITS` in common share a row of `spans`. */
export const SPAN_BITS = 10;

/** The columns of an entry that the index depends on. */
export type IndexedRow = Pick<
  EntryRow,
  | 'seq'
  | 'id'
  | 'kind'
  | 'shop'
  | 'channel'
  | 'remote_id'
  | 'received_at'
  | 'meta'
  | 'state'
  | 'reason'
  | 'platform_message_id'
  | 'conversation_id'
>;

/** A claim changes nothing here: `delivering` is found as `queued`, and told apart by the spool. */
export const indexedState = (state: EntryState): EntryState =>
  state === 'delivering' ? 'queued' : state;

/** Changes whenever an entry must be indexed again. */
export function stampOf(row: IndexedRow): number {
  const parts = [
    row.id,
    indexedState(row.state),
    row.reason ?? '',
    row.platform_message_id ?? '',
    row.conversation_id ?? '',
  ];
  return hash('sha256', parts.join('\0'), 'buffer').readUIntBE(0, 6);
}

/** Writes entries into the index; every method runs inside a transaction of its caller. */
export class IndexEntries {
  readonly #sql;
  readonly #shops = new Map<string, number>();

  constructor(db: IndexDb) {
    this.#sql = prepare(db);
  }

  put(row: IndexedRow, card: FullCard): void {
    const terms = [
      filterTerm('s', this.#shopNo(row.shop)),
      filterTerm('c', row.channel),
      filterTerm('t', indexedState(row.state)),
      ...(row.reason === null ? [] : [reasonTerm(row.reason)]),
      termsOf({
        texts: [card.from, card.to, card.subject, card.more],
        ids: [row.id, row.remote_id, row.platform_message_id ?? '', row.conversation_id ?? ''],
      }),
    ];
    this.#sql.putTerms.run(row.seq, terms.join(' '));
    this.#sql.putCard.run({
      seq: row.seq,
      stamp: stampOf(row),
      at: row.received_at,
      from: card.from,
      to: card.to,
      subject: card.subject,
      more: card.more,
    });
    this.#sql.putSpan.run({ span: Math.floor(row.seq / 2 ** SPAN_BITS), at: row.received_at });
  }

  stamp(seq: number): number | undefined {
    return this.#sql.stamp.get(seq)?.stamp;
  }

  /** Entries after a seq, as they were indexed. */
  stampsAfter(seq: number, limit: number): { seq: number; stamp: number }[] {
    return this.#sql.stampsAfter.all(seq, limit);
  }

  card(seq: number): FullCard | undefined {
    return this.#sql.card.get(seq);
  }

  remove(seq: number): void {
    if (this.#sql.removeCard.run(seq).changes > 0) this.#sql.removeTerms.run(seq);
  }

  /** Undefined: no entry of the shop was indexed. */
  shopNo(id: string): number | undefined {
    return this.#sql.shopNo.get(id)?.no;
  }

  #shopNo(id: string): number {
    const known = this.#shops.get(id);
    if (known !== undefined) return known;
    this.#sql.addShop.run(id);
    const no = this.shopNo(id) ?? 0;
    this.#shops.set(id, no);
    return no;
  }

  mark(name: string): number {
    return this.#sql.mark.get(name)?.value ?? 0;
  }

  setMark(name: string, value: number): void {
    this.#sql.setMark.run(name, value);
  }
}

function prepare(db: IndexDb) {
  return {
    putTerms: db.prepare(`INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)`),
    putCard: db.prepare(
      `INSERT OR REPLACE INTO cards (seq, stamp, received_at, "from", "to", subject, more)
       VALUES (@seq, @stamp, @at, @from, @to, @subject, @more)`,
    ),
    putSpan: db.prepare(
      `INSERT INTO spans (span, oldest, newest) VALUES (@span, @at, @at)
       ON CONFLICT (span) DO UPDATE
       SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)
       WHERE excluded.oldest < oldest OR excluded.newest > newest`,
    ),
    stamp: db.prepare<[number], { stamp: number }>(`SELECT stamp FROM cards WHERE seq = ?`),
    stampsAfter: db.prepare<[number, number], { seq: number; stamp: number }>(
      `SELECT seq, stamp FROM cards WHERE seq > ? ORDER BY seq LIMIT ?`,
    ),
    card: db.prepare<[number], FullCard>(
      `SELECT "from", "to", subject, more FROM cards WHERE seq = ?`,
    ),
    removeTerms: db.prepare(`DELETE FROM words WHERE rowid = ?`),
    removeCard: db.prepare(`DELETE FROM cards WHERE seq = ?`),
    shopNo: db.prepare<[string], { no: number }>(`SELECT no FROM shops WHERE id = ?`),
    addShop: db.prepare(`INSERT OR IGNORE INTO shops (id) VALUES (?)`),
    mark: db.prepare<[string], { value: number }>(`SELECT value FROM marks WHERE name = ?`),
    setMark: db.prepare(`INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)`),
  };
}
