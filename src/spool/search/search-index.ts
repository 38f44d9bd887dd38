import type Database from 'better-sqlite3';
import type { EntryId } from '../../domain/ids.ts';
import { codesBeginning, sentence } from '../../domain/reasons.ts';
import type { EntrySummary } from '../entry.ts';
import type { EntrySearch, FoundEntry } from '../entry-index.ts';
import { foundPage, readReason, summariesById, type SummaryRow } from '../entry-row.ts';
import type { EntryRow } from '../sqlite/entry-row.ts';
import { openToRead } from './follow.ts';
import { SPAN_BITS } from './index-database.ts';
import { matchOf, readTerms, type TermsBeginning } from './match.ts';
import { searchedTerms } from '../search-terms.ts';

type Filters = Omit<EntrySearch, 'limit'>;
type Value = string | number;
type FoundRow = EntryRow & SummaryRow;
/** A condition or a whole statement, with its bound values. */
interface Sql {
  readonly text: string;
  readonly values: readonly Value[];
}

/** With more candidates, scanning from the newest entry is likely to find matches quickly. */
const MOST_CANDIDATES = 100_000;
const MOST_SENTENCES = 1000;

/**
 * Finds entries, newest first. The index knows each entry's words, shop and channel; everything
 * else is checked against the spool in the same statement, so that no entry is returned for a state
 * that it has left. Entries that are not indexed yet are found only without a text.
 */
export class SearchIndex {
  readonly #db: Database.Database;
  readonly #sql;
  readonly #termsBeginning: TermsBeginning;

  constructor(spoolFile: string, indexFile: string) {
    this.#db = openToRead(spoolFile);
    this.#db.prepare(`ATTACH ? AS search`).run(indexFile);
    this.#termsBeginning = readTerms(this.#db, 'search');
    this.#db.function('reason_begins', { deterministic: true }, reasonBegins());
    this.#sql = prepare(this.#db);
  }

  find({ limit, ...filters }: EntrySearch): { found: FoundEntry[]; next?: EntryId } {
    return this.#atOnce(() => {
      const seqs = this.#seqs(filters, limit + 1);
      return foundPage(
        seqs.flatMap((seq) => this.#sql.one.get(seq) ?? []),
        limit,
      );
    });
  }

  count(filters: Omit<Filters, 'before'>, most: number): number {
    return this.#atOnce(() => this.#seqs(filters, most).length);
  }

  summaries(ids: readonly EntryId[]): Map<EntryId, EntrySummary> {
    return summariesById(ids.flatMap((id) => this.#sql.byId.get(id) ?? []));
  }

  /** The entries that were accepted directly before and after this one. */
  neighbours(id: EntryId): { older?: EntryId; newer?: EntryId } {
    const { older, newer } = this.#sql.neighbours.get(id) ?? {};
    return { ...(older && { older }), ...(newer && { newer }) };
  }

  close(): void {
    this.#db.close();
  }

  /** Runs `work` in one snapshot of the spool and the index. */
  #atOnce<T>(work: () => T): T {
    return this.#db.transaction(work).deferred();
  }

  #seqs(filters: Filters, limit: number): number[] {
    const terms = searchedTerms(filters);
    if (terms === null || filters.states?.length === 0) return [];
    const match = terms && matchOf(terms, this.#termsBeginning);
    const before =
      filters.before === undefined ? undefined : this.#sql.seqBefore.get({ id: filters.before });
    const candidates = candidatesOf(filters, before);
    if (candidates !== undefined) {
      const seqs = this.#all(candidates, MOST_CANDIDATES + 1);
      if (seqs.length <= MOST_CANDIDATES) return this.#among(seqs, filters, match, limit);
    }
    const last = this.#sql.last.get() ?? 0;
    // Entries that are not indexed yet, which are only found by searches without a text.
    const fresh =
      textOf(filters) === ''
        ? this.#all(ofEntries(filters, last + 1, (before ?? Number.MAX_SAFE_INTEGER) - 1), limit)
        : [];
    if (fresh.length === limit) return fresh;
    const { lowest, highest } = this.#rangeOf(filters, before, last);
    const older =
      match === undefined
        ? ofEntries(filters, lowest, highest)
        : ofWords(filters, match, lowest, highest);
    return [...fresh, ...this.#all(older, limit - fresh.length)];
  }

  #all({ text, values }: Sql, limit: number): number[] {
    return this.#db
      .prepare<Value[], number>(`${text} LIMIT ?`)
      .pluck()
      .all(...values, limit);
  }

  #among(
    candidates: readonly number[],
    filters: Filters,
    match: string | undefined,
    limit: number,
  ): number[] {
    // Shop and channel were compared already; only a text needs the index.
    if (match === undefined || textOf(filters) === '') {
      return candidates.toSorted((one, other) => other - one).slice(0, limit);
    }
    return this.#sql.among.all(match, JSON.stringify(candidates), limit);
  }

  /** The range of indexed seqs that can match. It may be too wide; times are compared again. */
  #rangeOf({ from, to }: Filters, before: number | undefined, last: number) {
    const highest = Math.min((before ?? Number.MAX_SAFE_INTEGER) - 1, last);
    if (from === undefined && to === undefined) return { lowest: 1, highest };
    const { first = null, last: final = null } =
      this.#sql.spans.get(from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER) ?? {};
    if (first === null || final === null) return { lowest: 1, highest: 0 };
    const size = 2 ** SPAN_BITS;
    return { lowest: first * size, highest: Math.min(highest, (final + 1) * size - 1) };
  }
}

const textOf = ({ text = '' }: Filters): string => text.trim();

/**
 * Entries that the spool finds by its own indexes: those that are not delivered, which are few, or
 * those with such a reason.
 */
function candidatesOf(filters: Filters, before: number | undefined): Sql | undefined {
  const hasReason = filters.reason !== undefined && filters.reason !== '';
  const isOpen = filters.states !== undefined && !filters.states.includes('delivered');
  if (!hasReason && !isOpen) return undefined;
  const index = hasReason ? 'entries_reason' : `entries_open`;
  const { text, values } = conditionsOf(filters);
  return {
    text: `SELECT seq FROM entries INDEXED BY ${index}
      WHERE ${isOpen ? `state <> 'delivered' AND ` : ''} ${text} ${before === undefined ? '' : 'AND seq < ?'}`,
    values: [...values, ...(before === undefined ? [] : [before])],
  };
}

function ofEntries(filters: Filters, lowest: number, highest: number): Sql {
  const { text, values } = conditionsOf(filters);
  return {
    text: `SELECT seq FROM entries NOT INDEXED WHERE seq BETWEEN ? AND ? AND ${text}
      ORDER BY seq DESC`,
    values: [lowest, highest, ...values],
  };
}

/** Each match is checked against the spool: that it still exists and matches the other filters. */
function ofWords(filters: Filters, match: string, lowest: number, highest: number): Sql {
  const { shopId: _shop, channel: _channel, ...others } = filters;
  const { text, values } = conditionsOf(others);
  return {
    text: `SELECT rowid FROM search.words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
      AND EXISTS (SELECT 1 FROM entries WHERE seq = words.rowid AND ${text})
      ORDER BY rowid DESC`,
    values: [match, lowest, highest, ...values],
  };
}

/** Conditions on columns of `entries`. */
function conditionsOf({ shopId, channel, states, reason = '', from, to }: Filters): Sql {
  const conditions = ['1'];
  const values: Value[] = [];
  const add = (condition: string, ...more: readonly Value[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  if (states !== undefined) add(`state IN (${states.map(() => '?').join()})`, ...states);
  if (shopId !== undefined) add('shop = ?', shopId);
  if (channel !== undefined) add('channel = ?', channel);
  if (reason !== '') add(...reasonCondition(reason));
  if (from !== undefined) add('received_at >= ?', from);
  if (to !== undefined) add('received_at < ?', to);
  return { text: conditions.join(' AND '), values };
}

/** Finds the codes by the index; only sentences that go beyond the words of a code are compared. */
function reasonCondition(text: string): [string, ...Value[]] {
  const { always, perhaps } = codesBeginning(text);
  const isOneOf = (codes: readonly string[]) =>
    `reason ->> 'code' IN (${codes.map(() => '?').join()})`;
  const indexed = `reason IS NOT NULL AND ${isOneOf([...always, ...perhaps])}`;
  if (perhaps.length === 0) return [indexed, ...always];
  return [
    `${indexed} AND (${isOneOf(always)} OR reason_begins(reason, ?))`,
    ...[...always, ...perhaps, ...always, text],
  ];
}

/** Many entries have the same reason, and reading it takes most of the time of such a search. */
function reasonBegins(): (reason: string, text: string) => number {
  const sentences = new Map<string, string>();
  return (reason, text) => {
    let words = sentences.get(reason);
    if (words === undefined) {
      if (sentences.size === MOST_SENTENCES) sentences.clear();
      words = sentence(readReason(reason));
      sentences.set(reason, words);
    }
    return Number(words.startsWith(text));
  };
}

function prepare(db: Database.Database) {
  const rows = `SELECT entries.*, "from", "to", subject FROM entries LEFT JOIN summaries USING (seq)`;
  return {
    one: db.prepare<[number], FoundRow>(`${rows} WHERE seq = ?`),
    byId: db.prepare<[string], FoundRow>(`${rows} WHERE id = ?`),
    // If the entry was deleted, the position where it was: ids grow with time.
    seqBefore: db
      .prepare<[{ id: string }], number>(
        `SELECT coalesce((SELECT seq FROM entries WHERE id = @id),
           (SELECT seq + 1 FROM entries WHERE id < @id ORDER BY id DESC LIMIT 1), 1)`,
      )
      .pluck(),
    neighbours: db.prepare<[string], Record<'older' | 'newer', EntryId | null>>(
      `SELECT (SELECT id FROM entries WHERE seq < own.seq ORDER BY seq DESC LIMIT 1) AS older,
         (SELECT id FROM entries WHERE seq > own.seq ORDER BY seq LIMIT 1) AS newer
       FROM entries AS own WHERE id = ?`,
    ),
    among: db
      .prepare<[string, string, number], number>(
        `SELECT rowid FROM search.words WHERE words MATCH ?
           AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY rowid DESC LIMIT ?`,
      )
      .pluck(),
    last: db.prepare<[], number>(`SELECT value FROM search.marks WHERE name = 'last'`).pluck(),
    spans: db.prepare<[number, number], { first: number | null; last: number | null }>(
      `SELECT min(span) AS first, max(span) AS last FROM search.spans
       WHERE newest >= ? AND oldest < ?`,
    ),
  };
}
