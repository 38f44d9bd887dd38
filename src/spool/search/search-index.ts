import type Database from 'better-sqlite3';
import type { EntryId } from '../../domain/ids.ts';
import type { EntryCard, EntrySearch, FoundEntry } from '../operator-store.ts';
import { type EntryRow, toEntry } from '../sqlite/entry-row.ts';
import type { IndexDb } from './index-database.ts';
import { IndexEntries, indexedState, SPAN_BITS } from './index-entries.ts';
import { filterTerm, queryOf, reasonTerm } from './search-terms.ts';

type Filters = Omit<EntrySearch, 'before' | 'limit'>;
type Row = EntryRow;
/** Seqs, both ends included. */
interface Range {
  readonly lowest: number;
  readonly highest: number;
}

/** Entries asked for at once, at the least: some may have changed since they were indexed. */
const MIN_PORTION = 50;
/** Of so many entries in the wanted states the spool answers by itself, within milliseconds. */
const FEW = 5000;

/**
 * Finds entries, the newest first. Which ones the index tells; what they are now the spool, so an
 * entry is never shown in a state that it has left. Entries that the index does not have yet are
 * read from the spool, as far as they need no text.
 */
export class SearchIndex {
  readonly #index: IndexDb;
  readonly #spool: Database.Database;
  readonly #entries: IndexEntries;
  readonly #sql;

  constructor(index: IndexDb, spool: Database.Database) {
    this.#index = index;
    this.#spool = spool;
    this.#entries = new IndexEntries(index);
    this.#sql = prepare(spool);
  }

  search(search: EntrySearch): { found: FoundEntry[]; next?: EntryId } {
    const rows = this.#rows(search, search.limit + 1);
    const found = rows.slice(0, search.limit).map((row) => ({
      entry: toEntry(row),
      card: this.#card(row.seq),
    }));
    const last = found.at(-1);
    return {
      found,
      ...(rows.length > search.limit && last !== undefined && { next: last.entry.id }),
    };
  }

  count(filters: Filters, most: number): number {
    const few = this.#few(filters, undefined);
    if (few !== undefined) return this.#fitting(few, filters, most).length;
    // What is in flight is few, and only the spool knows it.
    if (asksForDelivering(filters)) return this.#rows(filters, most).length;
    const last = this.#entries.mark('last');
    const fresh = textOf(filters) === '' ? this.#fresh(filters, last, undefined, most) : [];
    if (fresh.length >= most) return most;
    const range = this.#range(filters, undefined);
    return fresh.length + this.#indexed(filters, range, most - fresh.length).length;
  }

  cards(ids: readonly EntryId[]): Map<EntryId, EntryCard> {
    return new Map(
      ids.flatMap((id) => {
        const seq = this.#sql.seqOf.get(id)?.seq;
        return seq === undefined ? [] : [[id, this.#card(seq)]];
      }),
    );
  }

  /** Which entries were accepted right before and right after it. */
  neighbours(id: EntryId): { older?: EntryId; newer?: EntryId } {
    const seq = this.#sql.seqOf.get(id)?.seq;
    if (seq === undefined) return {};
    const older = this.#sql.older.get(seq)?.id;
    const newer = this.#sql.newer.get(seq)?.id;
    return { ...(older !== undefined && { older }), ...(newer !== undefined && { newer }) };
  }

  #card(seq: number): EntryCard {
    const card = this.#entries.card(seq);
    return { from: card?.from ?? '', to: card?.to ?? '', subject: card?.subject ?? '' };
  }

  #rows(search: Filters & { before?: EntryId }, wanted: number): Row[] {
    const before = search.before === undefined ? undefined : this.#seqOf(search.before);
    const few = this.#few(search, before);
    if (few !== undefined) return this.#fitting(few, search, wanted);
    const last = this.#entries.mark('last');
    const rows = textOf(search) === '' ? this.#fresh(search, last, before, wanted) : [];
    const range = this.#range(search, before);
    const inFlight = asksForDelivering(search) ? this.#inFlight(search, range) : [];
    let highest = range.highest;
    while (rows.length < wanted && highest >= range.lowest) {
      const portion = Math.max(MIN_PORTION, wanted - rows.length);
      const seqs = this.#indexed(search, { ...range, highest }, portion);
      const lowest = seqs.length < portion ? range.lowest : (seqs.at(-1) ?? range.lowest);
      const both = withThose(seqs, inFlight, lowest, highest);
      for (const seq of both) {
        const row = this.#sql.one.get(seq);
        if (row !== undefined && fits(row, search)) rows.push(row);
      }
      highest = lowest - 1;
    }
    return rows.slice(0, wanted);
  }

  /**
   * What the spool itself knows to be in these states, the newest first, when that is little: what
   * is dead or held, and what an operator has just done, are there before the index has heard of it.
   */
  #few(search: Filters, before: number | undefined): number[] | undefined {
    const { shopId, channel, states } = search;
    if (textOf(search) !== '') return undefined;
    if (states === undefined || states.includes('delivered')) return undefined;
    if (states.length === 0) return [];
    // Answered by the index entries_open, which has them all and is small.
    const seqs = this.#spool
      .prepare<string[], number>(
        `SELECT seq FROM entries
         WHERE state <> 'delivered' AND state IN (${states.map(() => '?').join()})
         ${shopId === undefined ? '' : 'AND shop = ?'} ${channel === undefined ? '' : 'AND channel = ?'}
         LIMIT ${FEW + 1}`,
      )
      .pluck()
      .all(...states, ...[shopId ?? [], channel ?? []].flat());
    if (seqs.length > FEW) return undefined;
    return seqs
      .filter((seq) => before === undefined || seq < before)
      .sort((one, other) => other - one);
  }

  /** As the spool has them now. */
  #fitting(seqs: readonly number[], search: Filters, wanted: number): Row[] {
    const rows: Row[] = [];
    for (const seq of seqs) {
      if (rows.length === wanted) break;
      const row = this.#sql.one.get(seq);
      if (row !== undefined && fits(row, search)) rows.push(row);
    }
    return rows;
  }

  /** The seqs that are asked for, by page and by time; a little wide, entries are looked at. */
  #range({ from, to }: Filters, before: number | undefined): Range {
    const highest = (before ?? Number.MAX_SAFE_INTEGER) - 1;
    if (from === undefined && to === undefined) return { lowest: 1, highest };
    const spans = this.#index
      .prepare<[number, number], { first: number | null; last: number | null }>(
        `SELECT min(span) AS first, max(span) AS last FROM spans WHERE newest >= ? AND oldest < ?`,
      )
      .get(from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER);
    const { first = null, last = null } = spans ?? {};
    if (first === null || last === null) return { lowest: 1, highest: 0 };
    const size = 2 ** SPAN_BITS;
    return {
      lowest: first * size,
      highest: Math.min(highest, (last + 1) * size - 1),
    };
  }

  /** What the index has of it, the newest first. */
  #indexed(search: Filters, { lowest, highest }: Range, limit: number): number[] {
    const match = this.#matchOf(search);
    if (match === 'nothing' || highest < lowest) return [];
    const { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER } = search;
    if (match === 'everything') {
      return this.#index
        .prepare<number[], number>(
          `SELECT seq FROM cards WHERE seq BETWEEN ? AND ? AND received_at >= ? AND received_at < ?
           ORDER BY seq DESC LIMIT ?`,
        )
        .pluck()
        .all(lowest, highest, from, to, limit);
    }
    const timed = search.from !== undefined || search.to !== undefined;
    const inTime = `AND EXISTS (SELECT 1 FROM cards
      WHERE seq = words.rowid AND received_at >= ? AND received_at < ?)`;
    return this.#index
      .prepare<(number | string)[], number>(
        `SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
         ${timed ? inTime : ''} ORDER BY rowid DESC LIMIT ?`,
      )
      .pluck()
      .all(match.expression, lowest, highest, ...(timed ? [from, to] : []), limit);
  }

  #matchOf(search: Filters): 'everything' | 'nothing' | { expression: string } {
    const clauses: string[] = [];
    if (textOf(search) !== '') {
      const query = queryOf(textOf(search));
      if (query === undefined) return 'nothing';
      clauses.push(query);
    }
    if (search.shopId !== undefined) {
      const no = this.#entries.shopNo(search.shopId);
      if (no === undefined) return 'nothing';
      clauses.push(quoted(filterTerm('s', no)));
    }
    if (search.channel !== undefined) clauses.push(quoted(filterTerm('c', search.channel)));
    if (search.states !== undefined) {
      // `delivering` alone is found by the spool's own index.
      const states = search.states.filter((state) => state !== 'delivering').map(indexedState);
      if (states.length === 0) return 'nothing';
      const terms = states.map((state) => quoted(filterTerm('t', state)));
      clauses.push(`(${terms.join(' OR ')})`);
    }
    if (search.reason !== undefined && search.reason !== '') {
      clauses.push(`${quoted(reasonTerm(search.reason))}*`);
    }
    if (clauses.length === 0) return 'everything';
    return { expression: clauses.join(' AND ') };
  }

  /** Entries that came after the last one that was indexed. */
  #fresh(search: Filters, last: number, before: number | undefined, limit: number): Row[] {
    const highest = (before ?? Number.MAX_SAFE_INTEGER) - 1;
    if (highest <= last) return [];
    const conditions = ['seq > ?', 'seq <= ?'];
    const values: (string | number)[] = [last, highest];
    const { shopId, channel, states, reason = '' } = search;
    if (shopId !== undefined) {
      conditions.push('shop = ?');
      values.push(shopId);
    }
    if (channel !== undefined) {
      conditions.push('channel = ?');
      values.push(channel);
    }
    if (states !== undefined) {
      conditions.push(`state IN (${states.map(() => '?').join()})`);
      values.push(...states);
    }
    if (reason !== '') conditions.push('reason IS NOT NULL');
    const newer = this.#spool.prepare<(string | number)[], Row>(
      `SELECT * FROM entries WHERE ${conditions.join(' AND ')} ORDER BY seq DESC`,
    );
    const rows: Row[] = [];
    for (const row of newer.iterate(...values)) {
      if (fits(row, search)) rows.push(row);
      if (rows.length === limit) break;
    }
    return rows;
  }

  /** A claim leaves no trace in the index; there are never many in flight. */
  #inFlight(search: Filters, { lowest, highest }: Range): number[] {
    const seqs = this.#sql.inFlight
      .all()
      .map(({ seq }) => seq)
      .filter((seq) => seq >= lowest && seq <= highest)
      .sort((one, other) => other - one);
    const match = this.#matchOf({ text: textOf(search) });
    if (match === 'everything' || seqs.length === 0) return seqs;
    if (match === 'nothing') return [];
    const matching = this.#index
      .prepare<[string, number]>(`SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?`)
      .pluck();
    return seqs.filter((seq) => matching.get(match.expression, seq) !== undefined);
  }

  /** Of an entry that was deleted meanwhile: where it was, for ids grow with time. */
  #seqOf(id: EntryId): number {
    const exact = this.#sql.seqOf.get(id)?.seq;
    return exact ?? (this.#sql.seqBefore.get(id)?.seq ?? 0) + 1;
  }
}

const textOf = ({ text = '' }: Filters): string => text.trim();
const quoted = (term: string): string => `"${term}"`;

const asksForDelivering = ({ states }: Filters): boolean => states?.includes('delivering') === true;

/** Whether an entry, as it is now, is one of those that are asked for; its text was looked up. */
function fits(row: Row, search: Filters): boolean {
  const { shopId, channel, states, reason, from, to } = search;
  return (
    (shopId === undefined || row.shop === shopId) &&
    (channel === undefined || row.channel === channel) &&
    (states === undefined || states.includes(row.state)) &&
    (reason === undefined || (row.reason ?? '').startsWith(reason)) &&
    (from === undefined || row.received_at >= from) &&
    (to === undefined || row.received_at < to)
  );
}

/** Two lists of seqs, of the second what lies within the ends, newest first and each once. */
function withThose(
  seqs: readonly number[],
  others: readonly number[],
  lowest: number,
  highest: number,
): readonly number[] {
  const within = others.filter((seq) => seq >= lowest && seq <= highest);
  if (within.length === 0) return seqs;
  return [...new Set([...seqs, ...within])].sort((one, other) => other - one);
}

function prepare(spool: Database.Database) {
  return {
    one: spool.prepare<[number], Row>(`SELECT * FROM entries WHERE seq = ?`),
    seqOf: spool.prepare<[string], { seq: number }>(`SELECT seq FROM entries WHERE id = ?`),
    seqBefore: spool.prepare<[string], { seq: number }>(
      `SELECT seq FROM entries WHERE id < ? ORDER BY id DESC LIMIT 1`,
    ),
    older: spool.prepare<[number], { id: EntryId }>(
      `SELECT id FROM entries WHERE seq < ? ORDER BY seq DESC LIMIT 1`,
    ),
    newer: spool.prepare<[number], { id: EntryId }>(
      `SELECT id FROM entries WHERE seq > ? ORDER BY seq LIMIT 1`,
    ),
    inFlight: spool.prepare<[], { seq: number }>(
      `SELECT seq FROM entries WHERE state = 'delivering'`,
    ),
  };
}
